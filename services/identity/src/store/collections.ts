import { fold, StartError } from '@kith/base';
import { type AuditRow, type MailKind, mailKinds, operatorScopes } from '@kith/contracts';
import { type Collection, collection, replyCollection, timeKey } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';
import { placeOf } from '../listing.ts';
import { type FactorBook, factorBook } from './factor-book.ts';
import { lastIn, nameKey, projectIn, revokedPlace, suspendedPlace, usedPlace } from './keys-of.ts';
import {
  type ApiKey,
  type Attempt,
  clientKnownMs,
  type EndingReason,
  failuresKeptMs,
  type Project,
  renewMs,
  type Session,
  type SigningKey,
  type User,
  usualExternalAge,
} from './records.ts';

/** The stored form: without the fields that the id holds, and with times in Unix ms. */
type AsStored<T, Ids extends keyof T> = {
  [Field in Exclude<keyof T, Ids>]: T[Field] extends Date
    ? number
    : T[Field] extends Date | null
      ? number | null
      : T[Field];
};

/**
 * `publicProfiles`: whether strangers see profiles at all. `wholeProfiles`: whether strangers see whole profiles. Older
 * versions do not know cards. They have stored only `publicProfiles`, and their default was `true`.
 */
export type StoredProject = Omit<AsStored<Project, 'id'>, 'publicProfiles'> & {
  publicProfiles: boolean;
  wholeProfiles?: boolean | undefined;
};
/** `lastActive` is the first sign-in. The collection `seen` holds the last sign-in. */
export type StoredUser = AsStored<User, 'id' | 'projectId'> & {
  /** Why outdated sessions of the user are to be revoked; `null` when none are left. */
  ending: EndingReason | null;
};
export type StoredSession = AsStored<Session, 'sid' | 'projectId' | 'userId'>;
export type StoredApiKey = AsStored<ApiKey, 'id' | 'projectId'>;
export type StoredKey = AsStored<SigningKey, 'ordinal'>;

const time = z.int();
const text = z.string();

/** Projects, by id. */
export const projects: Collection<StoredProject> = collection<StoredProject>({
  name: 'projects',
  kind: 'target',
  version: 1,
  schema: z.object({
    name: text,
    publicKey: text.nullable(),
    limits: z.custom<Project['limits']>(),
    webOrigins: z.array(text),
    publicProfiles: z.boolean(),
    wholeProfiles: z.boolean().optional(),
    publicConnections: z.boolean(),
    // Projects that an older version has stored lack these fields.
    storageMib: z.int().nullable().default(null),
    externalTokenMaxAge: z.int().default(usualExternalAge),
    signUp: z.enum(['open', 'closed']).default('open'),
    requireVerifiedEmail: z.boolean().default(false),
    mailLinkBase: text.nullable().default(null),
    mailTexts: z.custom<Project['mailTexts']>().default({}),
    createdAt: time,
    updatedAt: time,
  }),
  indexes: {
    place: { key: ({ createdAt }, id) => placeOf({ createdAt: new Date(createdAt), id }) },
    settings: { key: (project, id) => (hasSettings(project) ? id : null) },
  },
});

/** Projects that are being deleted, with their last settings, by id. */
export const deletingProjects: Collection<{ project: StoredProject; since: number }> = collection<{
  project: StoredProject;
  since: number;
}>({
  name: 'deletingProjects',
  kind: 'row',
  version: 1,
  schema: z.object({ project: z.custom<StoredProject>(), since: time }),
});

/** Ids of deleted projects of which nothing is left. Gateways refuse them permanently. */
export const deletedProjects: Collection<{ at: number }> = collection<{ at: number }>({
  name: 'deletedProjects',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time }),
});

/**
 * Users, by `userKey`. A user's id, foreign id, e-mail address and username are unique. If several of them are taken, a refusal
 * names only the one whose index comes first.
 */
export const users: Collection<StoredUser> = collection<StoredUser>({
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
    // Ids are unique across projects: other services name users by the id alone.
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
 * Last sign-ins, by `userKey`. They are stored apart from users, so that a sign-in does not compete with a change of the
 * profile.
 */
export const seen: Collection<{ at: number }> = collection<{ at: number }>({
  name: 'seen',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time }),
});

/**
 * The end and the reason that operators have given for present suspensions, by `userKey`. If operators have given neither,
 * there is no row.
 */
export const suspensions: Collection<{ until: number | null; reason: string | null }> = collection<{
  until: number | null;
  reason: string | null;
}>({
  name: 'suspensions',
  kind: 'row',
  version: 1,
  schema: z.object({ until: time.nullable(), reason: text.nullable() }),
  indexes: { until: { key: ({ until }, id) => (until === null ? null : `${timeKey(until)}|${id}`) } },
});

/** Deleted users whose erasure is not finished, by `userKey`. */
export const deletedUsers: Collection<{ seq: number; deletedAt: number }> = collection<{
  seq: number;
  deletedAt: number;
}>({
  name: 'deletedUsers',
  kind: 'row',
  version: 1,
  schema: z.object({ seq: z.int(), deletedAt: time }),
  indexes: { deletedAt: { key: ({ deletedAt }, id) => `${timeKey(deletedAt)}|${id}` } },
});

/** Ids of ended accounts (`endedIds`), by `userKey`. For a while, no import may use these ids. */
export const endedUsers: Collection<{ until: number }> = collection<{ until: number }>({
  name: 'endedUsers',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: time }),
  expires: ({ until }) => until,
});

/** A mail to a user and what its token is for. The mail may already be sent, or may still be waiting (docs/adr/0051). */
export interface StoredMailing {
  kind: MailKind;
  address: string;
  /** The address to which the page behind the mail's link leads. */
  redirect: string | null;
  /** Set until the mail is sent. */
  waiting: { since: number; dueAt: number; tries: number } | null;
  /** What is stored of the token. The token is made when the mail is sent, and only the mail contains it. */
  token: { hash: string; until: number; failures: number } | null;
  /** When the mail and the token become useless. */
  until: number;
}

/**
 * Mails to users, by `userKey` and kind. A user has at most one mail of each kind, with one exception: each changed address has
 * an `emailChanged` mail of its own.
 */
export const mailings: Collection<StoredMailing> = collection<StoredMailing>({
  name: 'mailings',
  kind: 'row',
  version: 1,
  schema: z.object({
    kind: z.enum(mailKinds),
    address: text,
    redirect: text.nullable(),
    waiting: z.object({ since: time, dueAt: time, tries: z.int() }).nullable(),
    token: z.object({ hash: text, until: time, failures: z.int() }).nullable(),
    until: time,
  }),
  indexes: {
    waiting: { key: ({ waiting }, id) => (waiting === null ? null : `${timeKey(waiting.dueAt)}|${id}`) },
    token: { key: ({ token }, id) => (token === null ? null : `${projectIn(id)}|${token.hash}`) },
    // For a while after a change of address, a user may take back the old address.
    kept: {
      key: ({ kind, address }, id) => (kind === 'emailChanged' ? nameKey(projectIn(id), address) : null),
    },
  },
  expires: ({ until }) => until,
});

/**
 * Sealed addresses for which a password reset was requested, by project and keyed hash. They are stored whether the account
 * exists or not.
 */
export const resetRequests: Collection<{ sealed: string; until: number }> = collection<{
  sealed: string;
  until: number;
}>({
  name: 'resetRequests',
  kind: 'copy',
  version: 1,
  schema: z.object({ sealed: text, until: time }),
  expires: ({ until }) => until,
});

/** Mails of the last hour, by project, keyed hash of the address, and a random text. */
export const sentMails: Collection<{ until: number }> = collection<{ until: number }>({
  name: 'sentMails',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: time }),
  expires: ({ until }) => until,
});

/** Sessions, by `sessionKey`, which consists of the user and the place in the user's list. */
export const sessions: Collection<StoredSession> = collection<StoredSession>({
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
 * When each session that is not revoked was last used, by `sessionKey`. This collection orders a user's sessions without the
 * revoked ones, because there may be many of these. A session that an older version has stored is missing here until it is
 * refreshed.
 */
export const sessionUses: Collection<{ usedAt: number; until: number }> = collection<{
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
 * Second factors of users, by `userKey`. One document holds all factors of a user, and every use of a factor changes this
 * document.
 */
export const factors: Collection<FactorBook> = collection<FactorBook>({
  name: 'factors',
  kind: 'target',
  version: 1,
  schema: factorBook,
});

const noticesKeptMs = 24 * 3600 * 1000;

/** Users who must still get a mail about a change of their second factors, by `userKey`. The changes are in `factors`. */
export const factorNotices: Collection<{ at: number }> = collection<{ at: number }>({
  name: 'factorNotices',
  kind: 'row',
  version: 1,
  schema: z.object({ at: time }),
  expires: ({ at }) => at + noticesKeptMs,
});

/**
 * Signing keys of access tokens. The id is the key's ordinal, padded with zeros so that the ids sort in the order of the
 * ordinals.
 */
export const keys: Collection<StoredKey> = collection<StoredKey>({
  name: 'keys',
  kind: 'target',
  version: 2,
  upgrade() {
    throw new StartError(
      'The signing keys in this database were written by an older version of Kith, and this version cannot read them. Start with an empty database, and import the data that you want to keep.',
    );
  },
  schema: z.object({
    kid: text,
    publicJwk: z.object({ n: text, e: text }),
    sealed: text,
    signsFrom: time,
    createdAt: time,
  }),
});

/** The key for keyed hashes, sealed and bound to its id. The collection holds a single key. */
export const hashKeys: Collection<{ sealed: string }> = collection<{ sealed: string }>({
  name: 'hashKeys',
  kind: 'target',
  silent: true,
  version: 1,
  schema: z.object({ sealed: text }),
});

/** Revoked signing keys, by `kid`. */
export const revokedKeys: Collection<{ at: number }> = collection<{ at: number }>({
  name: 'revokedKeys',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time }),
});

/**
 * Keys that operators have made. The document of an operator key has the id `-|<key>`, the document of a server key
 * `<project>|<key>`.
 */
export const apiKeys: Collection<StoredApiKey> = collection<StoredApiKey>({
  name: 'apiKeys',
  kind: 'target',
  version: 1,
  schema: z.object({
    hash: text,
    name: text,
    scopes: z.array(z.enum(operatorScopes)),
    projectIds: z.array(text).nullable(),
    expiresAt: time.nullable(),
    createdAt: time,
  }),
  indexes: {
    hash: { key: ({ hash }) => hash, unique: true },
    place: {
      key: ({ createdAt }, id) =>
        `${projectIn(id)}|${placeOf({ createdAt: new Date(createdAt), id: lastIn(id) })}`,
    },
  },
});

/** When each key in `apiKeys` was last used, by the id of the key. Stored apart, so that a use does not change the key. */
export const keyUses: Collection<{ at: number }> = collection<{ at: number }>({
  name: 'keyUses',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time }),
});

/** Blocks. The lists of both users have a copy of each block (`blocks.ts`). */
export const blocks: Collection<{ isBlocked: boolean }> = collection<{ isBlocked: boolean }>({
  name: 'blocks',
  kind: 'copy',
  version: 1,
  schema: z.object({ isBlocked: z.boolean() }),
});

/** Kinds of imported password hashes, by project. */
export const hashKinds: Collection<{ kinds: string[] }> = collection<{ kinds: string[] }>({
  name: 'hashKinds',
  kind: 'target',
  silent: true,
  version: 1,
  schema: z.object({ kinds: z.array(text) }),
});

/**
 * Failed attempts to sign in, by `addressPlace`, and clients that accounts know, by `clientPlace`. An `addressPlace` holds part
 * of a keyed hash of the address. So there are at most 2^24 such places, however many addresses are tried. Wrong second factors,
 * and clients that have passed one, are stored by `factorPlace`.
 */
export const attempts: Collection<Attempt> = collection<Attempt>({
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

/**
 * Erased external users, by project and a keyed hash of the foreign id. Tokens that were issued before `at` are refused until
 * the last of them has expired.
 */
export const erasedExternals: Collection<{ at: number; until: number }> = collection<{
  at: number;
  until: number;
}>({
  name: 'erasedExternals',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time, until: time }),
  expires: ({ until }) => until,
});

/**
 * A row of the audit log as it is stored. If the account `user` is erased, the row loses everything that identifies this user.
 */
export type StoredAudit = Omit<AuditRow, 'id' | 'at'> & { at: number; user: string | null };

/** How long rows of the audit log are kept (spec#audit-kept). */
const keepAuditMs = 400 * 24 * 3600_000;

/** The audit log, by place: newest first. */
export const audits: Collection<StoredAudit> = collection<StoredAudit>({
  name: 'audits',
  kind: 'target',
  version: 1,
  schema: z.object({
    at: time,
    actor: text,
    action: text,
    projectId: text.nullable(),
    target: text.nullable(),
    ip: text,
    requestId: text,
    outcome: text,
    count: z.int(),
    user: text.nullable(),
  }),
  indexes: {
    actor: { key: ({ actor }, id) => `${actor.slice(actor.indexOf(':') + 1)}|${id}` },
    project: { key: ({ projectId }, id) => projectId && `${projectId}|${id}` },
    action: { key: ({ action }, id) => `${action}|${id}` },
    projectAction: { key: ({ projectId, action }, id) => projectId && `${projectId}|${action}|${id}` },
    user: { key: ({ projectId, user }, id) => projectId && user && `${projectId}|${user}|${id}` },
  },
  expires: ({ at }) => at + keepAuditMs,
});

/** Everything that identity stores. */
export const declared: Declared = {
  collections: [
    ...[
      projects,
      deletingProjects,
      deletedProjects,
      users,
      seen,
      suspensions,
      deletedUsers,
      endedUsers,
      sessions,
      sessionUses,
    ],
    factors,
    factorNotices,
    ...[mailings, resetRequests, sentMails],
    ...[keys, hashKeys, revokedKeys, apiKeys, keyUses, blocks, hashKinds, replyCollection],
    ...[attempts, erasedExternals, audits],
  ],
};

function named(id: string, name: string | null | undefined): string | null {
  return name ? nameKey(projectIn(id), name) : null;
}

/** Whether a project has settings that gateways enforce. */
function hasSettings(project: StoredProject): boolean {
  const { limits, webOrigins, publicProfiles, wholeProfiles, publicConnections, storageMib } = project;
  if (Object.keys(limits).length > 0 || webOrigins.length > 0 || wholeProfiles) return true;
  return !publicProfiles || !publicConnections || storageMib != null;
}
