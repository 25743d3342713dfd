import { fold } from '@kith/base';
import { collection, timeKey } from '@kith/store';
import { z } from 'zod';
import { placeOf } from '../../listing.ts';
import { lastIn, nameKey, projectIn, suspendedPlace } from '../keys-of.ts';
import type { EndingReason, User } from '../records.ts';
import { type AsStored, text, time } from './stored.ts';

/** `lastActive` is the first sign-in. The collection `seen` holds the last sign-in. */
export type StoredUser = AsStored<User, 'id' | 'projectId'> & {
  /** The reason for which sessions of the user have to be revoked; `null` if none has to be revoked. */
  ending: EndingReason | null;
};

/**
 * Users, keyed by `userKey`. A user's id, foreign id, e-mail address and username are unique. If several of these values are
 * taken, a refusal names only the one that comes first in `indexes`.
 */
export const users = collection<StoredUser>({
  name: 'users',
  kind: 'target',
  version: 1,
  schema: z.object({
    foreignId: text.nullable(),
    email: text.nullable(),
    passwordHash: text.nullable(),
    role: text,
    username: text.nullable(),
    name: text.nullable(),
    avatar: text.nullable(),
    bio: text.nullable(),
    location: text.nullable(),
    birthdate: text.nullable(),
    metadata: z.custom<User['metadata']>(),
    bannerFileId: text.nullable(),
    avatarFileId: text.nullable(),
    reputation: z.number(),
    isVerified: z.boolean(),
    isActive: z.boolean(),
    suspendedAt: time.nullable(),
    sessionEpoch: z.int(),
    keptSession: text.nullable(),
    lastActive: time.nullable(),
    createdAt: time,
    updatedAt: time,
    rev: z.int(),
    seq: z.int(),
    ending: z.custom<EndingReason>().nullable(),
  }),
  indexes: {
    // An id is unique among all projects, because other services name a user by the id alone.
    id: { key: (_, id) => lastIn(id), unique: true },
    foreignId: { key: ({ foreignId }, id) => named(id, foreignId), unique: true },
    email: { key: ({ email }, id) => named(id, email), unique: true },
    username: { key: ({ username }, id) => named(id, username?.toLowerCase()), unique: true },
    name: { key: ({ name }, id) => named(id, name && fold(name)) },
    place: {
      key: ({ createdAt }, id) =>
        `${projectIn(id)}|${placeOf({ createdAt: new Date(createdAt), id: lastIn(id) })}`,
    },
    suspended: {
      key: ({ suspendedAt }, id) => (suspendedAt === null ? null : suspendedPlace(new Date(suspendedAt), id)),
    },
    ending: { key: ({ ending, updatedAt }, id) => (ending === null ? null : `${timeKey(updatedAt)}|${id}`) },
  },
  search: {
    username: ({ username }) => username?.toLowerCase() ?? '',
    name: ({ name }) => (name === null ? '' : fold(name)),
    email: ({ email }) => email ?? '',
  },
});

/**
 * Last sign-ins, keyed by `userKey`. They are stored apart from users, so that a sign-in and a change of the profile do not
 * write to the same document.
 */
export const seen = collection<{ at: number }>({
  name: 'seen',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time }),
});

/**
 * The end and the reason of present suspensions, keyed by `userKey`. If the operator has given neither an end nor a reason,
 * there is no row.
 */
export const suspensions = collection<{
  until: number | null;
  reason: string | null;
}>({
  name: 'suspensions',
  kind: 'row',
  version: 1,
  schema: z.object({ until: time.nullable(), reason: text.nullable() }),
  indexes: { until: { key: ({ until }, id) => (until === null ? null : `${timeKey(until)}|${id}`) } },
});

/** Deleted users whose erasure is not finished, keyed by `userKey`. */
export const deletedUsers = collection<{
  seq: number;
  deletedAt: number;
}>({
  name: 'deletedUsers',
  kind: 'row',
  version: 1,
  schema: z.object({ seq: z.int(), deletedAt: time }),
  indexes: { deletedAt: { key: ({ deletedAt }, id) => `${timeKey(deletedAt)}|${id}` } },
});

/** The ids that `endedIds` returns for ended accounts, keyed by `userKey`. Until `until`, no import may use these ids. */
export const endedUsers = collection<{ until: number }>({
  name: 'endedUsers',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: time }),
  expires: ({ until }) => until,
});

/** Blocks. Each block is stored twice: in the list of each of the two users (`blocks.ts`). */
export const blocks = collection<{ isBlocked: boolean }>({
  name: 'blocks',
  kind: 'copy',
  version: 1,
  schema: z.object({ isBlocked: z.boolean() }),
});

/**
 * Erased external users. The key is the project and a keyed hash of the foreign id. Tokens that were issued before `at` are
 * refused until the last of them has expired.
 */
export const erasedExternals = collection<{
  at: number;
  until: number;
}>({
  name: 'erasedExternals',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time, until: time }),
  expires: ({ until }) => until,
});

function named(id: string, name: string | null | undefined): string | null {
  return name ? nameKey(projectIn(id), name) : null;
}
