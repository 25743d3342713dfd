import { type Field, fields, fieldsOf } from './protobuf.ts';

/** A span as a collector gets it (opentelemetry-proto, trace/v1). */
export interface CollectedSpan {
  service: string;
  traceId: string;
  spanId: string;
  parentId: string;
  name: string;
  kind: string;
  failed: boolean;
  attributes: Record<string, string>;
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);
const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString('hex');

/** Reads the spans of an ExportTraceServiceRequest. */
export function spansOf(request: Uint8Array): CollectedSpan[] {
  return fields(request, 1).flatMap((resourceSpans) => {
    const [resource] = fields(resourceSpans, 1);
    const { 'service.name': service = '' } = attributesOf(resource ? fields(resource, 1) : []);
    const spans = fields(resourceSpans, 2).flatMap((scopeSpans) => fields(scopeSpans, 2));
    return spans.map((span) => spanOf(span, service));
  });
}

function spanOf(bytes: Uint8Array, service: string): CollectedSpan {
  const all = Map.groupBy(fieldsOf(bytes), ({ number }) => number);
  const one = (number: number): Field | undefined => all.get(number)?.[0];
  const status = one(15)?.bytes;
  return {
    service,
    traceId: hex(one(1)?.bytes),
    spanId: hex(one(2)?.bytes),
    parentId: hex(one(4)?.bytes),
    name: text(one(5)?.bytes),
    kind: kinds[Number(one(6)?.value ?? 0n)] ?? '',
    failed:
      status !== undefined && [...fieldsOf(status)].some(({ number, value }) => number === 3 && value === 2n),
    attributes: attributesOf((all.get(9) ?? []).map((field) => field.bytes)),
  };
}

/** Reads KeyValue messages. Turns each value that is not text into text. */
function attributesOf(pairs: readonly Uint8Array[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key, any] = [fields(pair, 1)[0], fields(pair, 2)[0]];
      const [value] = any ? [...fieldsOf(any)] : [];
      return [text(key), value?.number === 1 ? text(value.bytes) : String(value?.value ?? '')];
    }),
  );
}
