import type {
  EventOf,
  OperatorScope,
  Project as ProjectAnswer,
  PublicUser,
  sessionRevoked,
} from '@kith/contracts';

/** The part of a project that operators may set. */
export interface ProjectSettings {
  name: string;
  /** The key that verifies the JWTs of the project's own backend: RSA, EC P-256 or Ed25519, as SPKI in PEM. */
  publicKey: string | null;
  /** The limits by operation; null means no limit. */
  limits: ProjectAnswer['limits'];
  webOrigins: readonly string[];
  publicProfiles: ProjectAnswer['publicProfiles'];
  publicConnections: boolean;
  /** The quota of the project's files, in MiB; null if the configuration decides. */
  storageMib: number | null;
  /** The longest lifetime of the JWTs of the project's own backend, in seconds. */
  externalTokenMaxAge: number;
  /** Whether anybody may sign up. */
  signUp: 'open' | 'closed';
  requireVerifiedEmail: boolean;
  /** The page of the application to which the links in mails lead; null if the project has set none. */
  mailLinkBase: string | null;
  mailTexts: ProjectAnswer['mailTexts'];
}

/** The longest lifetime of external tokens if the project sets none, in seconds (spec#accounts-external-max-age). */
export const usualExternalAge = 3600;

export interface Project extends ProjectSettings {
  id: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The part of a user that the user may set. */
export interface Profile {
  /**
   * Keeps the upper and lower case letters that the user has chosen. Two usernames in a project must differ in more than their
   * case.
   */
  username: string | null;
  name: string | null;
  avatar: string | null;
  bio: string | null;
  location: string | null;
  /** `YYYY-MM-DD`. */
  birthdate: string | null;
  metadata: PublicUser['metadata'];
}

export interface User extends Profile {
  id: string;
  projectId: string;
  /** The id in the project's own backend; unique in its project. */
  foreignId: string | null;
  /** Lower-cased; unique in its project. */
  email: string | null;
  /** A PHC string, or the hash of another backend with the mark of an imported hash; null if the user has no password. */
  passwordHash: string | null;
  role: string;
  bannerFileId: string | null;
  avatarFileId: string | null;
  reputation: number;
  isVerified: boolean;
  isActive: boolean;
  /** Null unless the user is suspended. */
  suspendedAt: Date | null;
  /** A session whose epoch differs from this one has ended, unless it is the session `keptSession`. */
  sessionEpoch: number;
  keptSession: string | null;
  /** The last sign-in. */
  lastActive: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /**
   * Grows by one with every change of the user, and when a session of the user is ended. Two changes do not count: a recorded
   * sign-in, and the replacement of an imported password hash.
   */
  rev: number;
  /** The `seq` of the user's last event. */
  seq: number;
}

/**
 * A session. Each refresh replaces its refresh token, so only one of its tokens is valid at a time. `tokenHash` changes, and
 * the session stays the same. All refresh tokens of a session together are called a family.
 */
export interface Session {
  sid: string;
  projectId: string;
  userId: string;
  /** Hash of the part that all tokens of the family share. */
  familyHash: string;
  /** Hash of the valid token. */
  tokenHash: string;
  /** The token before the valid one; null if there was none. */
  rotated: RotatedToken | null;
  /** The user's `sessionEpoch` when the session was opened. */
  epoch: number;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  userAgent: string | null;
  ip: string | null;
  revokedAt: Date | null;
}

export interface RotatedToken {
  hash: string;
  /** The token that is valid now, sealed under a key that is derived from the rotated token. */
  sealed: string;
}

/** Why a session has ended, as the event `session.revoked` says it. */
export type RevocationReason = EventOf<typeof sessionRevoked>['data']['reason'];

/** Why sessions of a user have to end. If an operator ends them, the event has no actor. */
export type EndingReason = RevocationReason | 'ended-by-operator' | 'password-set';

/** The reason and the end of a suspension, as an operator has given them. */
export interface Suspension {
  reason: string | null;
  /** When the suspension ends by itself; null if it does not. */
  until: Date | null;
}

/**
 * A key pair that signs and verifies access tokens. The private key signs from `signsFrom` until the next key signs. The public
 * key is used until all tokens that were signed with this key have expired.
 */
export interface SigningKey {
  /**
   * The number of the key, beginning with 1. If two replicas make a key with the same ordinal, both use the key that was stored
   * first.
   */
  ordinal: number;
  kid: string;
  /** The public key: its modulus and its exponent as base64url. */
  publicJwk: { n: string; e: string };
  /** The private key as a JWK, sealed and bound to `kid` (spec#signing-keys-sealed). */
  sealed: string;
  signsFrom: Date;
  createdAt: Date;
}

/** A key that operators have made. Only the hash of its token is stored. */
export interface ApiKey {
  id: string;
  /** The project of a server key; null for an operator key. */
  projectId: string | null;
  hash: string;
  name: string;
  /** Empty for a server key. */
  scopes: readonly OperatorScope[];
  /** Null means every project. */
  projectIds: readonly string[] | null;
  expiresAt: Date | null;
  createdAt: Date;
}

/**
 * The failed attempts that are counted together in one `Attempt`. These values decide how long the next attempt has to wait.
 * Times in Unix ms.
 */
export interface Failures {
  /** The times of recent failures. When there are so many that attempts have to wait, the list is emptied. */
  recent: number[];
  /** How many waits the failures have caused so far. Each wait is twice as long as the one before, up to a maximum. */
  waits: number;
  /** The time of the last failure. */
  last: number;
}

/** The failures of one client that an account knows, or of all strangers together. */
export interface Attempt {
  /** When the client last signed in to the account or passed a second factor, Unix ms; null for strangers. */
  signedInAt: number | null;
  failures: Failures | null;
}

/** How long failures are counted after the last one, in ms (spec#accounts-attempts-end). */
export const failuresKeptMs = 24 * 3600_000;
/**
 * How long an account knows a client after a sign-in or a second factor, in ms (spec#accounts-attempts-known-client,
 * spec#accounts-attempts-factors).
 */
export const clientKnownMs = 30 * 24 * 3600_000;
/**
 * If a client signs in again within this time, in ms, the sign-in is not recorded for this client. To make up for this, an
 * account knows a client for `clientKnownMs` plus this time.
 */
export const renewMs = 3600_000;
