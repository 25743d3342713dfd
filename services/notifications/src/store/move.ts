import { movedEvents, movedFacts, type ServiceMove } from '@kith/service';
import type { Entry } from '../feed.ts';
import { openStore } from './index.ts';
import { rowOf } from './mongo-entries.ts';

/** Notifications' data on its way to the distributed form. */
export const notificationsMove: ServiceMove = {
  service: 'notifications',
  tables: [
    {
      table: 'feeds',
      key: ['id'],
      collection: 'feeds',
      document: ({ id, rev, feed }) => ({ _id: id, rev, ...JSON.parse(feed) }),
    },
    {
      table: 'entries',
      key: ['place'],
      collection: 'entries',
      // No change of its feed that is yet to come is as early as this `rev`.
      document: ({ place, entry }) => ({ _id: place, rev: 1, ...rowOf(JSON.parse(entry) as Entry) }),
    },
    {
      table: 'withdrawn',
      key: ['id'],
      collection: 'withdrawn',
      document: ({ id, expire_at }) => ({ _id: id, expireAt: new Date(expire_at) }),
    },
    {
      table: 'profiles',
      key: ['id'],
      collection: 'profiles',
      document: ({ id, seq, user, expire_at }) => ({
        _id: id,
        seq,
        ...(user === '' ? { expireAt: new Date(expire_at) } : { user }),
      }),
    },
    {
      table: 'ended_users',
      key: ['id'],
      collection: 'endedUsers',
      document({ id, ended_at, look_at }) {
        const [projectId, userId] = (id as string).split('|');
        return { _id: id, projectId, userId, endedAt: new Date(ended_at), lookAt: new Date(look_at) };
      },
    },
    movedEvents,
    movedFacts,
  ],
  async prepare(config) {
    await (await openStore(config)).close();
  },
};
