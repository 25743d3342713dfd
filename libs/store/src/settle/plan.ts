import type { EventEnvelope } from '@kith/contracts';
import type { Document, IndexDescription } from 'mongodb';
import type { OutboxFields } from '../outbox/mongo-outbox.ts';

/**
 * A listing row that follows from a change. `put: null` removes the row. The change determines the row's id, and the id belongs
 * to one target for ever. The row stores the `rev` of its target. So a writer can see whether a later change has written the
 * row already.
 */
export interface RowWrite {
  in: string;
  id: string;
  put: Document | null;
}

/**
 * What a change adds to a counter: a number for each field of the counter's document. A field is given by its name, never by a
 * path.
 */
export interface CounterWrite {
  in: string;
  id: string;
  inc: Record<string, number>;
}

/** The answer to the request that asked for a change. It is kept only if the request still holds its claim (docs/adr/0046). */
export interface KeptReply {
  in: string;
  id: string;
  claim: string;
  set: Document;
}

/**
 * What a committed change still has to write outside its target. The target holds the plan until everything in the plan is
 * written.
 */
export interface Plan {
  op: string;
  rev: number;
  rows: readonly RowWrite[];
  counters: readonly CounterWrite[];
  reply?: KeptReply;
}

/**
 * A target document. Writing this document commits a change. If its id is used again after a deletion, the `rev` of the new
 * document must begin above the last `rev` of the deleted one.
 */
export interface TargetFields extends OutboxFields {
  _id: string;
  /**
   * Goes up with every change. Also goes up when a process fences off an intent, which means that the change of this intent can
   * no longer commit. Unlike an event's `seq`, it may skip numbers.
   */
  rev: number;
  /**
   * The last change of the target. If an intent is fenced off after this change, `rev` goes up, but `lastOp` stays the same.
   */
  lastOp?: string;
  unsettled?: Plan;
  /** Present together with `unsettled`. The sweep finds targets by an index on this field. */
  unsettledAt?: Date;
}

/** What a counter's document stores about a change that may be about to commit. */
export interface Intent {
  op: string;
  in: string;
  target: string;
  fromRev: number;
  at: Date;
}

/** A counter document. Its totals are exact when all intents in `pending` are settled. */
export interface CounterFields {
  _id: string;
  pending?: Intent[];
}

/**
 * A row as it is stored. `gone`: the row was removed, or is not shown yet. The database deletes such a document at `expireAt`.
 */
export interface RowFields {
  _id: string;
  rev: number;
  gone?: true;
  expireAt?: Date;
}

export interface Change {
  /** The target as it was read. The target must exist and be settled. */
  target: { in: string; id: string; rev: number };
  set: Document;
  /** Fields that the change removes. */
  unset?: readonly string[];
  /** Name of a field to set to the database's time. */
  stamp?: string | undefined;
  events: readonly EventEnvelope[];
  /** At most one write per row. */
  rows: readonly RowWrite[];
  counters: readonly CounterWrite[];
  reply?: KeptReply | undefined;
}

/** An index for each collection of targets. The sweep uses it to find unsettled targets. */
export const unsettledIndex: IndexDescription = {
  name: 'unsettled',
  key: { unsettledAt: 1 },
  partialFilterExpression: { unsettledAt: { $exists: true } },
};
/**
 * An index for each collection of rows. If a row was removed, the database deletes its document permanently at the time
 * `expireAt`.
 */
export const goneIndex: IndexDescription = { name: 'gone', key: { expireAt: 1 }, expireAfterSeconds: 0 };
/** An index for each collection of counters. The sweep uses it to find open intents. */
export const pendingIndex: IndexDescription = {
  name: 'pending',
  key: { 'pending.at': 1 },
  partialFilterExpression: { 'pending.at': { $exists: true } },
};
