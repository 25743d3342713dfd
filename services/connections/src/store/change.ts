import type { DocumentChange } from '@kith/store';
import { entriesChange, totalsChange } from '../listing.ts';
import type { Pair } from '../pair.ts';
import { declines, entries, pairs, type StoredPair, totals } from './collections.ts';
import { pairId, totalsId } from './keys.ts';
import { declinesOf, readOf, storedEntry, storedPair } from './stored.ts';

/** The change of a pair, together with the changes of lists and totals that it causes. */
export function changeOf(before: Pair, after: Pair): DocumentChange<StoredPair> {
  const changed = entriesChange(before, after);
  return {
    in: pairs,
    target: readOf(before) ?? pairId(before),
    set: storedPair(after),
    // If nothing is left between the two users, only the pair's `seq` stays.
    erases: after.state === 'none' && after.blocks.length === 0,
    rows: [
      ...[...changed.removed.keys()].map((id) => ({ in: entries, id, put: null })),
      ...[...changed.added].map(([id, entry]) => ({ in: entries, id, put: storedEntry(entry) })),
      ...declinesChange(before, after),
    ],
    counters: totalsChange(changed).map(({ ownerId, add }) => ({
      ...{ in: totals, id: totalsId(before.projectId, ownerId), add },
    })),
  };
}

/**
 * The changed rows of declined requests. If one user of a declined pair blocks the other, the state and these rows stay the
 * same.
 */
function declinesChange(before: Pair, after: Pair) {
  if (before.state === after.state) return [];
  return [
    ...declinesOf(before).map(({ id }) => ({ in: declines, id, put: null })),
    ...declinesOf(after).map(({ id, put }) => ({ in: declines, id, put })),
  ];
}
