import type { EventEnvelope } from '@kith/contracts';
import type { Progress, Span } from './progress.ts';

/** A stored event that may not have been published yet. `key` is project, aggregate and seq. */
export interface StoredEvent {
  key: string;
  event: EventEnvelope;
  /** The place in a trace of the change it tells of. */
  traceparent?: string | undefined;
  /** When it was stored, Unix ms: it was not published before. */
  at: number;
  /** Another event has its `seq`. */
  conflict?: true;
}

/** Where a pass over unpublished events goes on: behind those stored before `at`, and behind these. */
export interface Past {
  at: number;
  keys: readonly string[];
}

/** A stored event that is out, and where its copies are, if that is known. */
export interface PublishedEvent extends StoredEvent {
  span?: Span | undefined;
}

/** Where copies of events that were published together are, and the id of the event at the last position. */
export interface Copies extends Span {
  id: string;
}

/** Which events are looked for: those with keys between the two, and in their JSON text `telling`, if given. */
export interface EventRange {
  from: string;
  to: string;
  telling?: string;
}

/** What a store keeps of its events, stored in the same write as the change they tell of (docs/adr/0004). */
export interface Outbox {
  /** Notes of how far the service's consumers have got, where its database keeps them. */
  readonly progress?: Progress;
  /** The oldest events that are stored but not marked as published; with `past`, of those behind it. */
  unpublished(limit: number, past?: Past): Promise<StoredEvent[]>;
  /** Marks events as published, with the span their copies lie in, which widens that of earlier times. */
  markPublished(keys: readonly string[], copies?: Copies): Promise<void>;
  /** Some of the published events of a range, by their keys. */
  published(range: EventRange, limit: number): Promise<PublishedEvent[]>;
  /** Whether there is an event of a range; with `unpublished`, one that is not published yet. */
  holds(range: EventRange, how?: { unpublished?: true }): Promise<boolean>;
  /** Sets what a published event says from now on, where its new copy is at `position`. */
  amend(key: string, event: EventEnvelope, position: number): Promise<void>;
  /** Removes published events. */
  forget(keys: readonly string[]): Promise<void>;
  /** The highest position on the bus that events are marked with, above `above` and below `below`, and the id of its event. */
  newest(above: number, below?: number): Promise<{ position: number; id: string } | undefined>;
  /** Takes marks back: events marked with a position above `after`, up to `upTo`, are to be published again. */
  unpublish(after: number, upTo: number): Promise<void>;
  /**
   * Stores events that tell no change but what is so, under keys of their own that have the events' ids: repeating it with the
   * same ids changes nothing.
   */
  restate(events: readonly EventEnvelope[]): Promise<void>;
  /** What the store knows of itself; `undefined` before that was noted. */
  fact<K extends keyof Facts>(name: K): Promise<Facts[K] | undefined>;
  noteFact<K extends keyof Facts>(name: K, value: Facts[K]): Promise<void>;
}

/** What a store knows of itself. */
export interface Facts {
  log: MarkedLog;
  epoch: Epoch;
}

/** How often a database was restored from a backup (docs/adr/0028). */
export interface Epoch {
  number: number;
  /** When it was restored last, Unix ms; absent where that was before it was noted. */
  restoredAt?: number;
  /** What follows from the last restore is not done yet. */
  isNew?: boolean;
}

/** The log of events that an outbox's marks speak of. */
export interface MarkedLog {
  /** `Bus.log()` has told it. */
  created: string;
  /** The highest position that is marked, as of the last comparison. */
  highest: number;
  /** Marks with positions above this are being taken back. */
  lostAfter?: number | undefined;
}

/** The key of an event in a service's `events`. */
export function eventKey(event: EventEnvelope): string {
  const { type, id, seq } = event.aggregate;
  return `${event.projectId}|${type}|${id}|${seq}`;
}

/** The key of an event whose place is another one's. */
export function besideKey(event: EventEnvelope): string {
  return `${eventKey(event)}|${event.id}`;
}
