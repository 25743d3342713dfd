import type { EventEnvelope } from '@kith/contracts';
import type { Progress, Span } from './progress.ts';

/** A stored event that may not have been published yet. `key` is project, aggregate and seq. */
export interface StoredEvent {
  key: string;
  event: EventEnvelope;
  /** The place in a trace of the change that the event tells of. */
  traceparent?: string | undefined;
  /** When it was stored, Unix ms. It cannot have been published earlier. */
  at: number;
  /** Another event has the same `seq`. */
  conflict?: true;
}

/** Where a pass over unpublished events continues: after all events stored before `at`, and after the events with these keys. */
export interface Past {
  at: number;
  keys: readonly string[];
}

/** A published event, and where its copies are, if that is known. */
export interface PublishedEvent extends StoredEvent {
  span?: Span | undefined;
}

/** Where copies of events that were published together are, and the id of the event at the last position. */
export interface Copies extends Span {
  id: string;
}

/** Which events are looked for: those with keys between `from` and `to`, and with `telling` in their JSON text, if given. */
export interface EventRange {
  from: string;
  to: string;
  telling?: string;
}

/** The events that a store keeps. Each is stored in the same write as the change it tells of (docs/adr/0004). */
export interface Outbox {
  /** Notes of how far the service's consumers have got, if its database keeps them. */
  readonly progress?: Progress;
  /** The oldest events that are stored but not marked as published; with `past`, only events after it. */
  unpublished(limit: number, past?: Past): Promise<StoredEvent[]>;
  /** Marks events as published and notes the span that their copies lie in, which widens an earlier span. */
  markPublished(keys: readonly string[], copies?: Copies): Promise<void>;
  /** At most `limit` published events of a range, in the order of their keys. */
  published(range: EventRange, limit: number): Promise<PublishedEvent[]>;
  /** Whether there is an event in a range; with `unpublished`, an event that is not published yet. */
  holds(range: EventRange, how?: { unpublished?: true }): Promise<boolean>;
  /** Replaces what a published event says; its new copy is at `position`. */
  amend(key: string, event: EventEnvelope, position: number): Promise<void>;
  /** Removes published events. */
  forget(keys: readonly string[]): Promise<void>;
  /** Of all positions between `above` and `below` that events are marked with, the highest, and the id of the event there. */
  newest(above: number, below?: number): Promise<{ position: number; id: string } | undefined>;
  /** Removes marks: events marked with a position above `after`, up to `upTo`, are to be published again. */
  unpublish(after: number, upTo: number): Promise<void>;
  /**
   * Stores events that tell the current state and not a change. Their keys contain the events' ids, so repeating it with the
   * same ids changes nothing.
   */
  restate(events: readonly EventEnvelope[]): Promise<void>;
  /** A fact about the store itself; `undefined` before it was noted. */
  fact<K extends keyof Facts>(name: K): Promise<Facts[K] | undefined>;
  noteFact<K extends keyof Facts>(name: K, value: Facts[K]): Promise<void>;
}

/** Facts that a store keeps about itself. */
export interface Facts {
  log: MarkedLog;
  epoch: Epoch;
}

/** How often a database was restored from a backup (docs/adr/0028). */
export interface Epoch {
  number: number;
  /** When it was last restored, Unix ms; absent if that was before this time was noted. */
  restoredAt?: number;
  /** Whether the work that follows from the last restore is still to be done. */
  isNew?: boolean;
}

/** The log of events that an outbox's marks refer to. */
export interface MarkedLog {
  /** `created` of `Bus.log()`. */
  created: string;
  /** The highest position that is marked, as of the last comparison. */
  highest: number;
  /** Marks with positions above this are being removed. */
  lostAfter?: number | undefined;
}

/** The key of an event in a service's `events`. */
export function eventKey(event: EventEnvelope): string {
  const { type, id, seq } = event.aggregate;
  return `${event.projectId}|${type}|${id}|${seq}`;
}

/** The key of an event that is stored beside the place of its `seq`, with the event's id. */
export function besideKey(event: EventEnvelope): string {
  return `${eventKey(event)}|${event.id}`;
}
