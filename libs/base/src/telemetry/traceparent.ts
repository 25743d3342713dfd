/** The form of W3C Trace Context, version 00. An id that consists of zeros is invalid. */
const form = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The name of the header, in HTTP and on the bus. */
export const traceparentHeader = 'traceparent';

/** The content of a `traceparent`. */
export interface TracePlace {
  traceId: string;
  spanId: string;
  flags: number;
}

/** Reads a `traceparent`; returns undefined for any other text. */
export function readTraceparent(text: unknown): TracePlace | undefined {
  const [, traceId, spanId, flags] = (typeof text === 'string' && form.exec(text)) || [];
  if (!traceId || !spanId || !flags) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

/**
 * Formats a span's place in a trace as a `traceparent`. Drops all flags except the first, which says whether the trace is kept.
 */
export function writeTraceparent({ traceId, spanId, flags }: TracePlace): string {
  return `00-${traceId}-${spanId}-0${flags & 1}`;
}

/** The fields that link a log line to a trace. OpenTelemetry defines their names (trace context in non-OTLP log formats). */
export function traceFields(traceparent: unknown): { trace_id?: string; span_id?: string } {
  const place = readTraceparent(traceparent);
  return place ? { trace_id: place.traceId, span_id: place.spanId } : {};
}
