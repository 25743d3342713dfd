import { tracing } from '@kith/base';
import type { EventEnvelope } from '@kith/contracts';

/** The text of an event as a store keeps it. If its change is traced, the text includes the change's place in the trace. */
export function eventText(event: EventEnvelope): string {
  const traceparent = tracing()?.active();
  return JSON.stringify(traceparent === undefined ? event : { ...event, traceparent });
}

/** Reads an event back. Returns its place in the trace separately, because the place is not part of the event. */
export function readEventText(text: string): { event: EventEnvelope; traceparent?: string } {
  const { traceparent, ...event } = JSON.parse(text) as EventEnvelope & { traceparent?: string };
  return traceparent === undefined ? { event } : { event, traceparent };
}
