import { nextTurnBefore } from '@kith/base';
import { type Entry, type ListName, placeOf } from './listing.ts';
import type { ConnectionStore, ListRange } from './store/index.ts';

const chunk = 1_000;

/**
 * Reads a whole list in its order, chunk by chunk. Between two chunks, other work of the event loop gets its turn, even if the
 * store answers without waiting. If `deadline` (Unix ms) has passed by then, throws `DeadlinePassed`.
 */
export async function* walk(
  store: Pick<ConnectionStore, 'list'>,
  { deadline, ...of }: { projectId: string; ownerId: string; list: ListName; deadline: number },
): AsyncGenerator<Entry[]> {
  let from: ListRange['from'] = { skip: 0 };
  for (;;) {
    const { entries } = await store.list({ ...of, from, limit: chunk });
    yield entries;
    const last = entries.at(-1);
    if (!last || entries.length < chunk) return;
    from = { after: placeOf(last) };
    await nextTurnBefore(deadline);
  }
}
