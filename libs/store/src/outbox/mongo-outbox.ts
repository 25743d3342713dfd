import { clocksMs } from '@kith/base';
import type { EventEnvelope } from '@kith/contracts';
import type { Collection, Db, Filter, IndexDescription } from 'mongodb';
import { despiteDeadlocks, insertAbsent } from '../drivers/failed-writes.ts';
import { eventText, readEventText } from './event-text.ts';
import {
  besideKey,
  type Copies,
  type EventRange,
  type EventSearch,
  eventKey,
  type Facts,
  firstByKey,
  type Outbox,
  type Past,
  type PublishedEvent,
  type StoredEvent,
  searchInSteps,
} from './outbox.ts';

/** Fields of an aggregate's document that hold its events. So one write of the document stores a change and its events. */
export interface OutboxFields {
  /** Events not yet copied to `events`, as JSON texts. Absent when there are none. */
  outbox?: { key: string; event: string }[];
  /** Present while `outbox` holds something. The sweep finds documents by an index on this field. */
  outboxAt?: Date;
}

interface EventDocument {
  _id: string;
  event: string;
  at: Date;
  unpublished?: true;
  /**
   * Set if another event had already taken the usual key of this event (`eventKey`). Not set if the aggregate had ended with
   * that other event (`end`).
   */
  conflict?: true;
  /** Set if the aggregate has ended with this event (`Outbox.noteEnd`). */
  end?: true;
  expireAt?: Date;
  /** The span in which the event's copies lie. Absent if the event was published when spans were not stored yet. */
  first?: number;
  last?: number;
}

/** Maximum number of events in an aggregate's document. If it is reached, the events are copied out before the next change. */
const outboxLimit = 16;
/** A read that takes longer than this, in ms, is repeated, because its process may have been paused. */
const slowMs = 1_000;
/** How many events one command of a search reads. A command must not take longer than the driver waits for its answer. */
const stepLength = 2_000;
const keepMs = 7 * 24 * 3600 * 1000;
/** Matches any time. This filter is a range, because some servers use a partial index only for ranges. */
const ever = { $gt: new Date(0) };

/** Index of a collection of aggregates, by which the sweep finds filled outboxes. */
export const outboxIndex: IndexDescription = {
  name: 'outbox',
  key: { outboxAt: 1 },
  partialFilterExpression: { outboxAt: { $exists: true } },
};

/** Indexes of the `events` collection. */
export const eventsIndexes: readonly IndexDescription[] = [
  { name: 'unpublished', key: { at: 1 }, partialFilterExpression: { unpublished: { $exists: true } } },
  { name: 'expire', key: { expireAt: 1 }, expireAfterSeconds: 0 },
];

/**
 * A batch of published events. `_id` is the position of its last event in the log. Batches are stored separately from the
 * events, because one more index on the events would slow down every event.
 */
interface MarkDocument {
  _id: number;
  /** The id of the event at that position. */
  id: string;
  /** The keys of the events in the batch. */
  keys: string[];
  expireAt: Date;
}

/** Indexes of the `marks` collection. */
export const marksIndexes: readonly IndexDescription[] = [
  { name: 'expire', key: { expireAt: 1 }, expireAfterSeconds: 0 },
];

/** The part of an update that stores a change's events. Empty if the change has no events. */
export function outboxUpdate(events: readonly EventEnvelope[]): {
  $push?: Record<string, unknown>;
  $set?: Record<string, unknown>;
} {
  if (events.length === 0) return {};
  const entries = events.map((event) => ({ key: eventKey(event), event: eventText(event) }));
  return { $push: { outbox: { $each: entries } }, $set: { outboxAt: new Date() } };
}

/** The fields of a new aggregate's document that store its first events. */
export function outboxFields(events: readonly EventEnvelope[]): OutboxFields {
  return {
    outbox: events.map((event) => ({ key: eventKey(event), event: eventText(event) })),
    outboxAt: new Date(),
  };
}

/**
 * The outbox on MongoDB. A change commits its events in the aggregate's document. They are copied from there to `events`, and
 * published from `events`. In `events`, the `_id` is project, aggregate and seq, so copying an event twice changes nothing.
 */
export class MongoOutbox implements Outbox {
  readonly #aggregates: readonly Collection<OutboxFields & { _id: string }>[];
  readonly #events: Collection<EventDocument>;
  readonly #marks: Collection<MarkDocument>;
  readonly #facts: Collection<{ _id: string; value: string }>;

  /** @param aggregates Names of the collections whose documents carry `OutboxFields`. */
  constructor(db: Db, aggregates: readonly string[]) {
    this.#aggregates = aggregates.map((name) => db.collection(name));
    this.#events = db.collection('events');
    this.#marks = db.collection('marks');
    this.#facts = db.collection('facts');
  }

  async unpublished(limit: number, past?: Past): Promise<StoredEvent[]> {
    const read = () => Promise.all(this.#aggregates.map((aggregates) => filledOf(aggregates, limit)));
    const outboxes = await soonRead(read);
    await Promise.all(outboxes.map(({ filled }) => this.#copy(filled)));
    const at = past ? { $gte: new Date(past.at) } : ever;
    const _id = { $nin: [...(past?.keys ?? [])] };
    // The copies are stored already, so emptying the documents does not change which events are found. So the search and the
    // emptying run at the same time.
    const [rows] = await Promise.all([
      this.#events
        .find({ unpublished: { $exists: true }, at, ...(past && { _id }) }, { sort: { at: 1 }, limit })
        .toArray(),
      ...outboxes.map(({ aggregates, filled }) => this.#empty(aggregates, filled)),
    ]);
    return rows.map(storedOf);
  }

  async markPublished(keys: readonly string[], copies?: Copies): Promise<void> {
    // First notes where the copies are. If an event were marked without such a note, nobody would find it by its position.
    if (copies) await this.#noteBatch(keys, copies);
    await this.#events.updateMany(
      { _id: { $in: [...keys] } },
      {
        $unset: { unpublished: '' },
        $set: { expireAt: keptUntil() },
        ...(copies && { $min: { first: copies.first }, $max: { last: copies.last } }),
      },
    );
  }

  async published({ since, ...range }: EventSearch, limit: number): Promise<PublishedEvent[]> {
    if (since === undefined) return (await this.#publishedIn(range, limit)).map(publishedOf);
    return firstByKey((await this.#publishedSince(since, range)).map(publishedOf), limit);
  }

  async #publishedIn(range: EventRange, limit: number): Promise<EventDocument[]> {
    return searchInSteps(range.from, limit, async (from, most) => {
      const keys = { $gt: from, $lt: range.to };
      // Looks for the end of the step first. So no event is passed over if events are removed before the step is read.
      const one = { projection: { _id: 1 }, sort: { _id: 1 }, skip: stepLength - 1 } as const;
      const end = range.telling === undefined ? null : await this.#events.findOne({ _id: keys }, one);
      const _id = end ? { $gt: from, $lte: end._id } : keys;
      const filter = { ...eventsIn(range), _id, unpublished: { $exists: false } as const };
      const found = await this.#events.find(filter, { sort: { _id: 1 }, limit: most }).toArray();
      return { found, next: end?._id };
    });
  }

  /** Finds published events by their expiry time, which follows from the time of their publication. */
  async #publishedSince(since: number, range: EventRange): Promise<EventDocument[]> {
    const end = { projection: { expireAt: 1 }, sort: { expireAt: 1 }, skip: stepLength - 1 } as const;
    return searchInSteps(new Date(since + keepMs), Number.POSITIVE_INFINITY, async (from) => {
      const last = (await this.#events.findOne({ expireAt: { $gte: from } }, end))?.expireAt;
      // Events that were published in the same ms belong to the same step.
      const next = last && new Date(last.getTime() + 1);
      const filter = { ...eventsIn(range), expireAt: { $gte: from, ...(next && { $lt: next }) } };
      return { found: await this.#events.find(filter).toArray(), next };
    });
  }

  async horizon(): Promise<number> {
    return Date.now() - clocksMs;
  }

  async holds(range: EventRange, { unpublished }: { unpublished?: true } = {}): Promise<boolean> {
    // Looks at the aggregates' documents first. If an event is moved from its document to `events` meanwhile, the search in
    // `events` below finds it there.
    for (const aggregates of this.#aggregates) {
      const waiting = { outboxAt: ever, outbox: { $elemMatch: entriesIn(range) } };
      if (await aggregates.findOne(waiting, { projection: { _id: 1 } })) return true;
    }
    // With `at`, the index of unpublished events can be used. Even in a wide range, only a few events are unpublished.
    const isWaiting = { unpublished: { $exists: true }, at: ever } as const;
    const filter = { ...eventsIn(range), ...(unpublished && isWaiting) };
    return (await this.#events.findOne(filter, { projection: { _id: 1 } })) !== null;
  }

  async amend(key: string, event: EventEnvelope, position: number): Promise<void> {
    await this.#leaveOut([key]);
    await this.#noteBatch([key], { last: position, id: event.id });
    await this.#events.updateOne(
      { _id: key },
      // The log keeps the new copy for the usual time, counted from now. So the outbox keeps its record of the event for this
      // time.
      { $set: { event: JSON.stringify(event), first: position, last: position, expireAt: keptUntil() } },
    );
  }

  async noteEnd(key: string): Promise<void> {
    await this.#events.updateOne({ _id: key }, { $set: { end: true } });
  }

  async forget(keys: readonly string[]): Promise<void> {
    // Removes the keys from the batches, because a key names the person that its event is about.
    await this.#leaveOut(keys);
    await this.#events.deleteMany({ _id: { $in: [...keys] }, unpublished: { $exists: false } });
  }

  async newest(
    above: number,
    below = Number.MAX_SAFE_INTEGER,
  ): Promise<{ position: number; id: string } | undefined> {
    const mark = await this.#marks.findOne({ _id: { $gt: above, $lt: below } }, { sort: { _id: -1 } });
    return mark ? { position: mark._id, id: mark.id } : undefined;
  }

  async unpublish(after: number, upTo: number): Promise<void> {
    const within = { _id: { $gt: after, $lte: upTo } };
    const marks = await this.#marks.find(within).toArray();
    if (marks.length === 0) return;
    await this.#events.updateMany(
      { _id: { $in: marks.flatMap(({ keys }) => keys) } },
      { $set: { unpublished: true }, $unset: { first: '', last: '', expireAt: '' } },
    );
    await this.#marks.deleteMany({ _id: { $in: marks.map(({ _id }) => _id) } });
  }

  async restate(events: readonly EventEnvelope[]): Promise<void> {
    const at = new Date();
    const rows = events.map((event) => ({
      _id: besideKey(event),
      event: eventText(event),
      at,
      unpublished: true as const,
    }));
    await insertAbsent<EventDocument>(this.#events, rows);
  }

  async fact<K extends keyof Facts>(name: K): Promise<Facts[K] | undefined> {
    const fact = await this.#facts.findOne({ _id: name });
    return fact ? JSON.parse(fact.value) : undefined;
  }

  async noteFact<K extends keyof Facts>(name: K, value: Facts[K]): Promise<void> {
    const update = { $set: { value: JSON.stringify(value) } };
    await this.#facts.updateOne({ _id: name }, update, { upsert: true });
  }

  async #noteBatch(keys: readonly string[], { last, id }: Pick<Copies, 'last' | 'id'>): Promise<void> {
    // Two relays may have published different batches that end with the same event. One mark then stores the keys of both
    // batches.
    await this.#marks.updateOne(
      { _id: last },
      { $addToSet: { keys: { $each: [...keys] } }, $set: { id, expireAt: keptUntil() } },
      { upsert: true },
    );
  }

  /**
   * Removes the keys of events from their batches. The last position of such a batch lies in the span of the event's copies.
   */
  async #leaveOut(keys: readonly string[]): Promise<void> {
    const named = { $in: [...keys] };
    const filter = { _id: named, last: { $exists: true } };
    const events = await this.#events.find(filter, { projection: { first: 1, last: 1 } }).toArray();
    if (events.length === 0) return;
    const batches = events.map(({ first = 0, last = 0 }) => ({
      _id: { $gte: first, $lte: last },
      keys: named,
    }));
    await this.#marks.updateMany({ $or: batches }, { $pull: { keys: named } });
  }

  /** Empties a document's outbox when it is full, so that a change can add to it. */
  async makeRoom(aggregate: string, document: OutboxFields & { _id: string }): Promise<void> {
    const aggregates = this.#aggregates.find(({ collectionName }) => collectionName === aggregate);
    if (!aggregates || (document.outbox?.length ?? 0) < outboxLimit) return;
    const read = () =>
      aggregates.find({ _id: document._id, outboxAt: ever }, { projection: { outbox: 1 } }).toArray();
    const filled = await soonRead(read);
    await this.#copy(filled);
    await this.#empty(aggregates, filled);
  }

  /** Copies the events in documents to `events`. The documents must have been read with `soonRead`. */
  async #copy(documents: readonly OutboxFields[]): Promise<void> {
    if (documents.length === 0) return;
    const at = new Date();
    const copies = entriesOf(documents).map(({ key, event }) => ({
      ...{ _id: key, event, at },
      unpublished: true as const,
    }));
    await this.#keepConflicts(await insertAbsent<EventDocument>(this.#events, copies));
  }

  /** Removes the copied events from the documents. Takes one write, or three if a document has changed meanwhile. */
  async #empty(
    aggregates: Collection<OutboxFields & { _id: string }>,
    filled: readonly (OutboxFields & { _id: string })[],
  ): Promise<void> {
    if (filled.length === 0) return;
    const entries = entriesOf(filled);
    const _id = { $in: filled.map((document) => document._id) };
    const keys = entries.map(({ key }) => key);
    const empty = { $unset: { outboxAt: '', outbox: '' } } as const;
    const copied = { _id, outbox: { $not: { $elemMatch: { key: { $nin: keys } } } } } as Filter<
      OutboxFields & { _id: string }
    >;
    const { matchedCount } = await despiteDeadlocks(() => aggregates.updateMany(copied, empty));
    if (matchedCount === filled.length) return;
    // Events that a change has added meanwhile stay. The next pass finds them.
    await despiteDeadlocks(() =>
      aggregates.updateMany({ _id }, { $pull: { outbox: { key: { $in: keys } } } }),
    );
    await despiteDeadlocks(() => aggregates.updateMany({ _id, outbox: { $size: 0 } }, empty));
  }

  /**
   * Looks at copies whose keys were taken. Usually, a key was taken by an earlier copy of the same event. If another event has
   * the key, the copy gets a key of its own (`besideKey`), so that it is published too. Such a copy is also marked, so that the
   * relay reports it. Two events of an aggregate can have the same `seq` only if a database has lost an acknowledged change. If
   * the aggregate had ended with the first event, the second event belongs to a later life of the aggregate. In this life,
   * `seq` counts from 1 again. Such a copy is not marked.
   */
  async #keepConflicts(copies: readonly EventDocument[]): Promise<void> {
    if (copies.length === 0) return;
    const ids = copies.map(({ _id }) => _id);
    const there = await this.#events.find({ _id: { $in: ids } }, { batchSize: ids.length }).toArray();
    const idOf = ({ event }: { event: string }) => readEventText(event).event.id;
    const stored = new Map(there.map((row) => [row._id, row]));
    const beside = copies.flatMap((copy) => {
      const first = stored.get(copy._id);
      if (!first || idOf(first) === idOf(copy)) return [];
      return { ...copy, _id: `${copy._id}|${idOf(copy)}`, ...(!first.end && { conflict: true as const }) };
    });
    await insertAbsent<EventDocument>(this.#events, beside);
  }
}

/** Reads documents whose outbox holds something. */
async function filledOf(aggregates: Collection<OutboxFields & { _id: string }>, limit: number) {
  const filled = await aggregates.find({ outboxAt: ever }, { projection: { outbox: 1 }, limit }).toArray();
  // Every replica sorts by id. So replicas that copy the same documents hardly ever deadlock.
  return { aggregates, filled: filled.toSorted((a, b) => (a._id < b._id ? -1 : 1)) };
}

/**
 * Reads outboxes whose events are then copied. If the process was paused during the read, another process may have copied,
 * published and erased these events meanwhile, and a copy would bring them back. So a slow read is repeated.
 */
async function soonRead<T>(read: () => Promise<T>): Promise<T> {
  const began = performance.now();
  const found = await read();
  return performance.now() - began < slowMs ? found : read();
}

function entriesOf(documents: readonly OutboxFields[]) {
  return documents.flatMap(({ outbox = [] }) => outbox);
}

function eventsIn(range: EventRange): Filter<EventDocument> {
  const { key, ...telling } = entriesIn(range);
  return { _id: key, ...telling };
}

/** A filter for the events that an aggregate's document holds. */
function entriesIn({ from, to, telling }: EventRange) {
  const text = telling?.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return { key: { $gt: from, $lt: to }, ...(text && { event: { $regex: text } }) };
}

function publishedOf(row: EventDocument): PublishedEvent {
  const { first, last } = row;
  return {
    ...storedOf(row),
    span: first === undefined || last === undefined ? undefined : { first, last },
  };
}

function storedOf({ _id, event, at, conflict }: EventDocument): StoredEvent {
  return { key: _id, ...readEventText(event), at: at.getTime(), ...(conflict && { conflict }) };
}

/** The time until which the outbox keeps an event that is published now. */
function keptUntil(): Date {
  return new Date(Date.now() + keepMs);
}
