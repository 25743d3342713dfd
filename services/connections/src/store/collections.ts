import { fold } from '@kith/base';
import { connectionSettings } from '@kith/contracts';
import { endedUserCollection, profileCollection, userSettingsCollection } from '@kith/service';
import { collection, counters, replyCollection } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';
import { lists } from '../listing.ts';
import { usersOf } from './keys.ts';

const time = z.int();

/** The state between two users. The document's id holds the ids of the two users. Times are Unix ms. */
export interface StoredPair {
  seq: number;
  blocks: { id: string; blockerId: string; at: number }[];
  /** `null` in state `none`. The receiver is the user who is not the requester. */
  request: {
    /** The connection's id. */
    id: string;
    state: 'pending' | 'accepted' | 'declined';
    requesterId: string;
    message: string | null;
    requestedAt: number;
    respondedAt: number | null;
  } | null;
}

/** The pairs. `pairId` makes their ids. Every change between two users goes through the document of their pair. */
export const pairs = collection<StoredPair>({
  name: 'pairs',
  kind: 'target',
  version: 1,
  schema: z.object({
    seq: z.int(),
    blocks: z.array(z.object({ id: z.string(), blockerId: z.string(), at: time })),
    request: z
      .object({
        id: z.string(),
        state: z.enum(['pending', 'accepted', 'declined']),
        requesterId: z.string(),
        message: z.string().nullable(),
        requestedAt: time,
        respondedAt: time.nullable(),
      })
      .nullable(),
  }),
  indexes: {
    // Within a project, each connection has its own id.
    connection: {
      key: ({ request }, id) => request && `${usersOf(id).projectId}|${request.id}`,
      unique: true,
    },
    // Finds pairs by their second user. The first user needs no index, because the ids of pairs begin with the project and the
    // first user.
    higher: {
      key: (_, id) => {
        const { projectId, lower, higher } = usersOf(id);
        return `${projectId}|${higher}|${lower}`;
      },
    },
    blocked: { key: ({ blocks }, id) => (blocks.length > 0 ? id : null) },
  },
});

/** A row of a list. Its key holds the owner, the list, the time and the id of the connection or block. */
export interface StoredEntry {
  userId: string;
  message: string | null;
  requestedAt: number;
}

/** The rows of lists. `entryKey` makes their keys. */
export const entries = collection<StoredEntry>({
  name: 'entries',
  kind: 'row',
  version: 1,
  schema: z.object({ userId: z.string(), message: z.string().nullable(), requestedAt: time }),
});

/** A declined request of a user. The row's key names the other user. */
export interface StoredDecline {
  /** The connection's id. */
  id: string;
  type: 'sent' | 'received';
  message: string | null;
  requestedAt: number;
  respondedAt: number;
}

/** Declined requests. Each request has two rows, one for each user. A row's key holds the user and the other user. */
export const declines = collection<StoredDecline>({
  name: 'declines',
  kind: 'row',
  version: 1,
  schema: z.object({
    id: z.string(),
    type: z.enum(['sent', 'received']),
    message: z.string().nullable(),
    requestedAt: time,
    respondedAt: time,
  }),
});

/** How many rows each list of a user has. `totalsId` makes the ids. */
export const totals = counters({ name: 'totals', fields: lists });

/** This service's copy of public users, with their search keys (spec#connections-search). */
export const profiles: typeof profileCollection = collection({
  ...profileCollection,
  search: {
    username: ({ user }) => fold(user?.username ?? ''),
    name: ({ user }) => fold(user?.name ?? ''),
  },
});

/** Users' settings for requests and for their lists. */
export const settings = userSettingsCollection(connectionSettings);

/** Everything that the connections service stores. */
export const declared: Declared = {
  collections: [pairs, entries, declines, settings, endedUserCollection, profiles, replyCollection],
  counters: [totals],
};
