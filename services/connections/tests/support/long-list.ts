import { randomUUID } from 'node:crypto';
import type { StoreConfig } from '@kith/store';
import { counterRow, documentRow, movedDocuments } from '@kith/store/open';
import { fillStore } from '@kith/testing';
import { connectionsBackup } from '../../src/backup.ts';
import { type Entry, entryKey, type ListName } from '../../src/listing.ts';
import { entries, totals } from '../../src/store/collections.ts';
import { totalsId } from '../../src/store/keys.ts';
import { storedEntry } from '../../src/store/stored.ts';

/**
 * Writes lists directly into the database, in the store's format. `counts` holds the number of rows of each list. Returns the
 * rows of each list in their order.
 */
export async function storeLongLists<List extends ListName>(
  config: StoreConfig,
  of: { projectId: string; ownerId: string },
  counts: Record<List, number>,
): Promise<Record<List, Entry[]>> {
  const stored = Object.entries<number>(counts).map(([list, count]) => {
    const some = Array.from({ length: count }, (_, age): Entry => {
      const at = new Date(Date.UTC(2026, 0, 1) - age * 1_000);
      const others = { id: randomUUID(), userId: randomUUID(), message: null };
      const connectedAt = list === 'established' ? at : null;
      return { ...of, list: list as ListName, ...others, requestedAt: at, connectedAt };
    });
    return [list, some] as const;
  });
  const rows = stored
    .flatMap(([, some]) => some)
    .map((entry) => documentRow(entries, entryKey(entry), storedEntry(entry)));
  const total = counterRow(totals, totalsId(of.projectId, of.ownerId), counts);
  await fillStore(config, movedDocuments(connectionsBackup), [...rows, total]);
  return Object.fromEntries(stored) as unknown as Record<List, Entry[]>;
}
