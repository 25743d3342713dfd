import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventEnvelope } from '@kith/contracts';
import type { Progress, Span } from './progress.ts';

/** A stored event that is perhaps not published yet. `key` is project, aggregate and seq. */
export interface StoredEvent {
  key: string;
  event: EventEnvelope;
  /** The trace context of the change that made this event. */
  traceparent?: string | undefined;
  /** When the event was stored, Unix ms. It cannot have been published before this time. */
  at: number;
  /**
   * Set if another event of the aggregate has the same `seq`, although the aggregate has not ended with that event (`noteEnd`).
   */
  conflict?: true;
}

/**
 * The point after which a pass over unpublished events continues. Events before `at`, and events with one of these keys, have
 * been handled already.
 */
export interface Past {
  at: number;
  keys: readonly string[];
}

/** A published event. `span` is where its copies are, if this is known. */
export interface PublishedEvent extends StoredEvent {
  span?: Span | undefined;
}

/** The span of events that were published together, and the id of the event at the last position of this span. */
export interface Copies extends Span {
  id: string;
}

/**
 * The events to look for: those with keys between `from` and `to`. With `telling`, only events whose JSON text contains this
 * text.
 */
export interface EventRange {
  from: string;
  to: string;
  telling?: string;
}

/**
 * The published events to look for. With `since`, the result of an earlier call of `Outbox.horizon`, only events that may have
 * been published after that call.
 */
export interface EventSearch extends EventRange {
  since?: number | undefined;
}

/** The events that a store keeps. Each event is stored in the same write as the change that it reports (docs/adr/0004). */
export interface Outbox {
  /** Notes on the progress of the service's consumers. Present only if the service's database keeps such notes. */
  readonly progress?: Progress;
  /** The oldest events that are stored but not marked as published. If `past` is given, only events after this point. */
  unpublished(limit: number, past?: Past): Promise<StoredEvent[]>;
  /**
   * Marks events as published, and notes the span of their copies. If an event already has a span, this span is widened to
   * include the new one. With `copies`, also stores a mark at the last position of the span. The mark names the events.
   */
  markPublished(keys: readonly string[], copies?: Copies): Promise<void>;
  /**
   * At most `limit` published events of a range, in the order of their keys. The range may hold any number of events: it is
   * read in short steps, and other work runs in between.
   */
  published(search: EventSearch, limit: number): Promise<PublishedEvent[]>;
  /**
   * Returns a time (Unix ms) for `EventSearch.since`. A search with this time finds all events that are published after this
   * call. Clocks may differ by `clocksMs`, so such a search also finds events that were published up to `clocksMs` before this
   * call.
   */
  horizon(): Promise<number>;
  /** Whether a range holds an event. With `unpublished`, whether it holds an event that is not published yet. */
  holds(range: EventRange, how?: { unpublished?: true }): Promise<boolean>;
  /** Replaces the content of a published event. The event's new copy is at `position`. */
  amend(key: string, event: EventEnvelope, position: number): Promise<void>;
  /**
   * Notes that an aggregate ends with this event. If the aggregate is stored again, its new events may have the same `seq` as
   * this one.
   */
  noteEnd(key: string): Promise<void>;
  /** Removes published events. */
  forget(keys: readonly string[]): Promise<void>;
  /** The highest position of a mark between `above` and `below`, and the id of the event at this position. */
  newest(above: number, below?: number): Promise<{ position: number; id: string } | undefined>;
  /** Removes the marks with positions above `after` and up to `upTo`, so that their events are published again. */
  unpublish(after: number, upTo: number): Promise<void>;
  /**
   * Stores events that describe the current state instead of a change. A key contains the event's id, so storing the same
   * events again changes nothing.
   */
  restate(events: readonly EventEnvelope[]): Promise<void>;
  /** A fact about the store itself. `undefined` if it was not noted yet. */
  fact<K extends keyof Facts>(name: K): Promise<Facts[K] | undefined>;
  noteFact<K extends keyof Facts>(name: K, value: Facts[K]): Promise<void>;
}

/** Facts that a store keeps about itself. */
export interface Facts {
  log: MarkedLog;
  epoch: Epoch;
  heard: HeardLog;
}

/**
 * For each durable consumer of the service: the place in the log up to which the consumer has received all events
 * (docs/adr/0061).
 */
export interface HeardLog {
  /** `created` of `Bus.log()`. */
  created: string;
  /**
   * For each durable: an end of the log that the durable has reached. `next` is a later end that the durable had not reached at
   * the last check.
   */
  durables: Record<string, LogEnd & { next?: LogEnd }>;
}

/** The last position of the log at a time (Unix ms). */
export interface LogEnd {
  position: number;
  at: number;
}

/** Says how many times (`number`) and when a database was restored from a backup (docs/adr/0028). */
export interface Epoch {
  number: number;
  /** When the database was last restored, Unix ms. Absent if this time was not noted yet. */
  restoredAt?: number;
  /** Whether the work that follows from the last restore is still to be done. */
  isNew?: boolean;
  /**
   * Set if the data was restored from a backup without a list of erasures. Users who were erased after this time, in Unix ms,
   * may be back.
   */
  unerasedSince?: number;
  /** Whether `unerasedSince` covers all restores. Earlier versions of Kith did not note restores without a list of erasures. */
  isTold?: boolean;
}

/** The log of events that an outbox's marks refer to. */
export interface MarkedLog {
  /** `created` of `Bus.log()`. */
  created: string;
  /** The highest position that was marked when the marks were last compared with the log. */
  highest: number;
  /** The position above which all marks are being removed. `undefined` if no marks are being removed. */
  lostAfter?: number | undefined;
}

/** The key of an event in a service's `events`. */
export function eventKey(event: EventEnvelope): string {
  const { type, id, seq } = event.aggregate;
  return `${event.projectId}|${type}|${id}|${seq}`;
}

/** The key of an event whose usual key (`eventKey`) is taken by another event. This key also contains the event's id. */
export function besideKey(event: EventEnvelope): string {
  return `${eventKey(event)}|${event.id}`;
}

/** What one step of a search has found, and where the next step begins. `next` is absent after the last step. */
export interface Step<T, From> {
  found: readonly T[];
  next?: From | undefined;
}

/** Searches step by step until `limit` results are found or nothing is left to read. Other work runs between two steps. */
export async function searchInSteps<T, From>(
  from: From,
  limit: number,
  step: (from: From, limit: number) => Step<T, From> | Promise<Step<T, From>>,
): Promise<T[]> {
  const all: T[] = [];
  for (let at = from; ; await nextTurn()) {
    const { found, next } = await step(at, limit - all.length);
    all.push(...found);
    if (next === undefined || all.length >= limit) return all;
    at = next;
  }
}

/** The first `limit` events in the order of their keys. */
export function firstByKey(events: readonly PublishedEvent[], limit: number): PublishedEvent[] {
  return events.toSorted((one, other) => (one.key < other.key ? -1 : 1)).slice(0, limit);
}
