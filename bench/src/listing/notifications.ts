import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import { listNotifications } from '@kith/contracts';
import { notificationsBackup } from '@kith/notifications';
import {
  emptyFeed,
  entries,
  feedKey,
  feeds,
  listHandler,
  type Owner,
  openStore,
  placeOf,
} from '@kith/notifications/testing';
import { documentRow, movedDocuments } from '@kith/store/open';
import { serveAlone } from '@kith/testing';
import { endingWith } from './connections.ts';
import { interleave } from './interleave.ts';
import { firstMs, type Layout, type SeedRow } from './layout.ts';

const keepMs = 10 * 365 * 24 * 3_600_000;

/** Users with notifications, one user for each of these lengths. */
export function notificationsLayout(sizes: number[]): Layout {
  const projectId = randomUUID();
  const targets = sizes.map((size) => ({ size, projectId, userId: randomUUID(), params: {} }));

  function* rows(): Generator<SeedRow> {
    yield* interleave(
      targets.map(({ size, userId }) => ({ size, rows: feedOf({ projectId, userId }, size) })),
    );
  }

  return {
    move: movedDocuments(notificationsBackup),
    rows,
    kinds: [
      {
        name: 'notifications',
        title: 'notifications',
        spec: listNotifications,
        hasNumbers: true,
        hasQuery: false,
        targets,
      },
    ],
    async serve(config) {
      const store = await openStore(config);
      const parts = {
        store,
        relay: { kick: () => undefined },
        turns: new Turns(),
        epoch: 0,
        keepMs,
        now: Date.now,
      };
      return endingWith(
        await serveAlone([listHandler], (bus) => ({ ...parts, bus }), { checkOutput: false }),
        store,
      );
    },
  };
}

function* feedOf(owner: Owner, size: number): Generator<SeedRow> {
  yield documentRow(feeds, feedKey(owner), { ...emptyFeed, seq: size, total: size, unread: size });
  for (let seq = 1; seq <= size; seq++) {
    const createdAt = firstMs + seq * 1_000;
    const metadata = {
      connectionId: randomUUID(),
      initiatorId: randomUUID(),
      initiatorName: 'Person',
      initiatorUsername: 'person',
      initiatorAvatar: null,
    };
    yield documentRow(entries, placeOf(owner, seq), {
      ...{ id: randomUUID(), type: 'connection-request', metadata },
      ...{ createdAt, keepUntil: createdAt + keepMs, readAt: null },
    });
  }
}
