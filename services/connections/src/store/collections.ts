import { fold } from '@kith/base';
import { connectionSettings } from '@kith/contracts';
import { endedUserCollection, profileCollection, userSettingsCollection } from '@kith/service';
import { type Collection, collection, counters, replyCollection } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';
import { lists } from '../listing.ts';
import { usersOf } from './keys.ts';

const time = z.int();

/** Two users and where they stand; who they are is their id. Times are Unix ms. */
export interface StoredPair {
  seq: number;
  blocks: { id: string; blockerId: string; at: number }[];
  /** `null` in state none. Who received it is the other one. */
  request: {
    /** The connection's. */
    id: string;
    state: 'pending' | 'accepted' | 'declined';
    requesterId: string;
    message: string | null;
    requestedAt: number;
    respondedAt: number | null;
  } | null;
}

/** What decides every change between two users, by `pairId`. */
export const pairs: Collection<StoredPair> = collection<StoredPair>({
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
    // An id is of one connection of its project.
    connection: {
      key: ({ request }, id) => request && `${usersOf(id).projectId}|${request.id}`,
      unique: true,
    },
    // By the second user; the first leads the id.
    higher: {
      key: (_, id) => {
        const { projectId, lower, higher } = usersOf(id);
        return `${projectId}|${higher}|${lower}`;
      },
    },
    blocked: { key: ({ blocks }, id) => (blocks.length > 0 ? id : null) },
  },
});

/** A row of a list; whose it is, which list, when and the connection's or block's id say its id. */
export interface StoredEntry {
  userId: string;
  message: string | null;
  requestedAt: number;
}

/** The rows of lists, by `entryKey`. */
export const entries: Collection<StoredEntry> = collection<StoredEntry>({
  name: 'entries',
  kind: 'row',
  version: 1,
  schema: z.object({ userId: z.string(), message: z.string().nullable(), requestedAt: time }),
});

/** A declined request of a user; the other one is in its id. */
export interface StoredDecline {
  /** The connection's. */
  id: string;
  type: 'sent' | 'received';
  message: string | null;
  requestedAt: number;
  respondedAt: number;
}

/** Declined requests of either side, by the user and the other one. */
export const declines: Collection<StoredDecline> = collection<StoredDecline>({
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

/** How many rows each list of a user has, by `totalsId`. */
export const totals = counters({ name: 'totals', fields: lists });

/** The own copy of public users with what they are found by (spec#connections-search). */
export const profiles: typeof profileCollection = collection({
  ...profileCollection,
  search: {
    username: ({ user }) => fold(user?.username ?? ''),
    name: ({ user }) => fold(user?.name ?? ''),
  },
});

/** What users have decided about requests and their lists. */
export const settings = userSettingsCollection(connectionSettings);

/** All that connections stores. */
export const declared: Declared = {
  collections: [pairs, entries, declines, settings, endedUserCollection, profiles, replyCollection],
  counters: [totals],
};
