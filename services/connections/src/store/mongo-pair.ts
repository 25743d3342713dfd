import { outboxIndex, type TargetFields, unsettledIndex } from '@kith/service';
import type { IndexDescription } from 'mongodb';
import type { Pair } from '../pair.ts';

/** `blocks` are absent in documents from before there were any. */
export type PairDocument = Omit<Pair, 'rev' | 'blocks'> & Partial<Pick<Pair, 'blocks'>> & TargetFields;

/** Indexes of `pairs`. */
export const pairIndexes: readonly IndexDescription[] = [
  unsettledIndex,
  outboxIndex,
  // By the second user; the first leads the key. Partial though every document is in it: FerretDB plans a plain one as a
  // walk over all ids.
  { name: 'higher', key: { higher: 1 }, partialFilterExpression: { higher: { $exists: true } } },
  // An id is of one connection of its project. Most pairs of state none have null in its place.
  {
    name: 'life',
    key: { projectId: 1, connectionId: 1 },
    unique: true,
    partialFilterExpression: { connectionId: { $gt: '' } },
  },
];

/** The pair of a document, without what the outbox and the settler keep in it. */
export function toPair(document: PairDocument): Pair {
  const { _id, lastOp, unsettled, unsettledAt, outbox, outboxAt, blocks = [], ...pair } = document;
  return { ...pair, blocks };
}
