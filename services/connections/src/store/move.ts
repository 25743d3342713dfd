import { keepForgottenMs, movedEvents, movedFacts, type ServiceMove } from '@kith/service';
import { listOfKey } from '../listing.ts';
import { openStore } from './index.ts';
import { pairId } from './keys.ts';

const date = (ms: number | null) => (ms === null ? null : new Date(ms));

/** Connections' data on its way to the distributed form. */
export const connectionsMove: ServiceMove = {
  service: 'connections',
  tables: [
    {
      table: 'pairs',
      key: ['project_id', 'lower', 'higher'],
      collection: 'pairs',
      document({ project_id: projectId, lower, higher, rev, seq, state, message, blocks, ...row }) {
        const stored = JSON.parse(blocks) as { id: string; blockerId: string; at: string }[];
        return {
          _id: pairId({ projectId, lower, higher }),
          ...{ projectId, lower, higher, rev, seq, state, message },
          requesterId: row.requester_id,
          receiverId: row.receiver_id,
          connectionId: row.connection_id,
          requestedAt: date(row.requested_at),
          respondedAt: date(row.responded_at),
          blocks: stored.map(({ at, ...block }) => ({ ...block, at: new Date(at) })),
        };
      },
    },
    {
      table: 'edges',
      key: ['key'],
      collection: 'edges',
      document: ({ key, id, user_id: userId, message, requested_at, connected_at }) => ({
        _id: key,
        // No change of its pair that is yet to come is as early.
        rev: 1,
        ...listOfKey(key),
        ...{ id, userId, message },
        requestedAt: date(requested_at),
        connectedAt: date(connected_at),
      }),
    },
    {
      table: 'heads',
      key: ['id'],
      collection: 'heads',
      document: ({ id, ...totals }) => ({ _id: id, ...totals }),
    },
    {
      table: 'profiles',
      key: ['id'],
      collection: 'profiles',
      document: ({ id, ...row }) => ({ _id: id, ...row }),
    },
    {
      table: 'ended_users',
      key: ['id'],
      collection: 'profiles',
      document: ({ id, ended_at: endedAt, erase_at: eraseAt }) => ({
        _id: id,
        // Above that of any event that is still to come of an account that has ended.
        seq: Number.MAX_SAFE_INTEGER,
        endedAt: new Date(endedAt),
        ...(eraseAt === null ? {} : { eraseAt: new Date(eraseAt) }),
        expireAt: new Date(endedAt + keepForgottenMs),
      }),
    },
    movedEvents,
    movedFacts,
  ],
  async prepare(config) {
    await (await openStore(config)).close();
  },
};
