import { randomUUID } from 'node:crypto';
import type { StoreConfig } from '@kith/store';
import { documentRow, movedDocuments } from '@kith/store/open';
import { fillStore } from '@kith/testing';
import { notificationsBackup } from '../../src/backup.ts';
import { emptyFeed, type Owner } from '../../src/feed.ts';
import { entries, feeds } from '../../src/store/collections.ts';
import { feedKey, placeOf } from '../../src/store/place.ts';

/**
 * Writes a feed of `count` notifications directly into the database, in the store's format. Resolves to the ids of the
 * notifications, newest first.
 */
export async function storeFeed(config: StoreConfig, owner: Owner, count: number): Promise<string[]> {
  const metadata = {
    connectionId: randomUUID(),
    initiatorId: randomUUID(),
    initiatorName: 'Ann',
    initiatorUsername: null,
    initiatorAvatar: null,
  };
  const times = { createdAt: Date.now(), keepUntil: Date.now() + 3_600_000, readAt: null };
  const ids = Array.from({ length: count }, () => randomUUID());
  const rows = ids.map((id, at) =>
    documentRow(entries, placeOf(owner, at + 1), { id, type: 'connection-accepted', metadata, ...times }),
  );
  const feed = { ...emptyFeed, seq: count, total: count, unread: count };
  await fillStore(config, movedDocuments(notificationsBackup), [
    ...rows,
    documentRow(feeds, feedKey(owner), feed),
  ]);
  return ids.toReversed();
}
