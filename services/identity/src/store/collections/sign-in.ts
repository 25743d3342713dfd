import { collection } from '@kith/store';
import { z } from 'zod';
import { type FactorBook, factorBook } from '../factor-book.ts';
import { lastIn, projectIn, revokedPlace, usedPlace } from '../keys-of.ts';
import { type Attempt, clientKnownMs, failuresKeptMs, renewMs, type Session } from '../records.ts';
import { type AsStored, text, time } from './stored.ts';

export type StoredSession = AsStored<Session, 'sid' | 'projectId' | 'userId'>;

/**
 * Sessions, keyed by `sessionKey`. This key consists of the user and the session's place in the list of the user's sessions.
 */
export const sessions = collection<StoredSession>({
  name: 'sessions',
  kind: 'target',
  dated: true,
  version: 1,
  schema: z.object({
    familyHash: text,
    tokenHash: text,
    rotated: z.object({ hash: text, sealed: text }).nullable(),
    epoch: z.int(),
    createdAt: time,
    lastUsedAt: time,
    expiresAt: time,
    userAgent: text.nullable(),
    ip: text.nullable(),
    revokedAt: time.nullable(),
  }),
  indexes: {
    family: { key: ({ familyHash }, id) => `${projectIn(id)}|${familyHash}` },
    revoked: {
      key: ({ revokedAt }, id) => (revokedAt === null ? null : revokedPlace(new Date(revokedAt), lastIn(id))),
    },
  },
  expires: ({ expiresAt }) => expiresAt,
});

/**
 * When each session that is not revoked was last used, keyed by `sessionKey`. With this collection, the sessions that were used
 * least recently are found without reading revoked sessions. A user may have many revoked sessions. A session that an older
 * version has stored is missing here until it is refreshed.
 */
export const sessionUses = collection<{
  usedAt: number;
  until: number;
}>({
  name: 'sessionUses',
  kind: 'copy',
  version: 1,
  schema: z.object({ usedAt: time, until: time }),
  indexes: { used: { key: ({ usedAt }, id) => usedPlace(id, usedAt) } },
  expires: ({ until }) => until,
});

/**
 * Second factors of users, keyed by `userKey`. One document holds all factors of a user, and every use of a factor changes this
 * document.
 */
export const factors = collection<FactorBook>({
  name: 'factors',
  kind: 'target',
  version: 1,
  schema: factorBook,
});

const noticesKeptMs = 24 * 3600 * 1000;

/** Users who must still get a mail about a change of their second factors, keyed by `userKey`. The changes are in `factors`. */
export const factorNotices = collection<{ at: number }>({
  name: 'factorNotices',
  kind: 'row',
  version: 1,
  schema: z.object({ at: time }),
  expires: ({ at }) => at + noticesKeptMs,
});

/**
 * Failed attempts to sign in. The attempts of strangers are keyed by `addressPlace`. Clients that accounts know are stored with
 * their failed attempts, keyed by `clientPlace`. An `addressPlace` contains only a part of a keyed hash of the address. So
 * there are at most 2^24 such keys, no matter how many addresses are tried. Wrong second factors, and clients that have passed
 * a factor, are keyed by `factorPlace`.
 */
export const attempts = collection<Attempt>({
  name: 'attempts',
  kind: 'target',
  silent: true,
  version: 1,
  schema: z.object({
    signedInAt: time.nullable(),
    failures: z.object({ recent: z.array(time), waits: z.int(), last: time }).nullable(),
  }),
  expires: ({ signedInAt, failures }) =>
    Math.max((failures?.last ?? 0) + failuresKeptMs, (signedInAt ?? 0) + clientKnownMs + renewMs),
});
