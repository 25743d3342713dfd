import { tracing } from '@kith/base';
import type { EventEnvelope } from '@kith/contracts';

/** An event as a store keeps it, with the place in the trace of the change it tells of, if that was traced. */
export function eventText(event: EventEnvelope): string {
  const traceparent = tracing()?.active();
  return JSON.stringify(traceparent === undefined ? event : { ...event, traceparent });
}

/** Reads an event back; what has caused it is no part of it. */
export function readEventText(text: string): { event: EventEnvelope; traceparent?: string } {
  const { traceparent, ...event } = JSON.parse(text) as EventEnvelope & { traceparent?: string };
  return traceparent === undefined ? { event } : { event, traceparent };
}
