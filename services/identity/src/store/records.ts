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
  /** Verifies the JWTs of the project's own backend: SPKI as PEM, of RSA, EC P-256 or Ed25519. */
  publicKey: string | null;
  /** By operation; null is no limit. */
  limits: ProjectAnswer['limits'];
  webOrigins: readonly string[];
  publicProfiles: ProjectAnswer['publicProfiles'];
  publicConnections: boolean;
  /** Most MiB of files; none is what the configuration says. */
  storageMib: number | null;
  /** Longest life of the JWTs of the project's own backend, in seconds. */
  externalTokenMaxAge: number;
  /** Whether anybody may sign up. */
  signUp: 'open' | 'closed';
  requireVerifiedEmail: boolean;
  /** The page of the application that links in mails lead to. */
  mailLinkBase: string | null;
  mailTexts: ProjectAnswer['mailTexts'];
}

/** Longest life of external tokens where the project sets none, in seconds (spec#accounts-external-max-age). */
export const usualExternalAge = 3600;

export interface Project extends ProjectSettings {
  id: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The part of a user that the user may set. */
export interface Profile {
  /** As given; unique in its project without regard to case. */
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
  /** A PHC string. */
  passwordHash: string | null;
  role: string;
  bannerFileId: string | null;
  avatarFileId: string | null;
  reputation: number;
  isVerified: boolean;
  isActive: boolean;
  /** Null unless it is suspended. */
  suspendedAt: Date | null;
  /** A session of another epoch is over, `keptSession` excepted. */
  sessionEpoch: number;
  keptSession: string | null;
  /** The last sign-in. */
  lastActive: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Goes up with every change. */
  rev: number;
  /** The `seq` of the last event. */
  seq: number;
}

/** A session is a family of refresh tokens, of which one at a time is valid: the session stays, its hash changes. */
export interface Session {
  sid: string;
  projectId: string;
  userId: string;
  /** Hash of the part that all tokens of the family share. */
  familyHash: string;
  /** Hash of the valid token. */
  tokenHash: string;
  /** The token before that one; null when there was none. */
  rotated: RotatedToken | null;
  /** The user's `sessionEpoch` when it was opened. */
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
  /** The valid token, sealed under a key that only who has the rotated one can make. */
  sealed: string;
}

/** Why sessions of a user have ended, as its event tells. */
export type RevocationReason = EventOf<typeof sessionRevoked>['data']['reason'];

/** Why sessions of a user are to end. Of those that an operator ends the event says so by its actor, nobody. */
export type EndingReason = RevocationReason | 'ended-by-operator' | 'password-set';

/** What an operator has said of a suspension. */
export interface Suspension {
  reason: string | null;
  /** When it ends by itself; null for never. */
  until: Date | null;
}

/** A key of access tokens. It signs from `signsFrom` until another one does, and verifies until its tokens are gone. */
export interface SigningKey {
  /** Counts from 1; two replicas that make the same one get one key. */
  ordinal: number;
  kid: string;
  /** What verifies, as base64url of its numbers. */
  publicJwk: { n: string; e: string };
  /** The private key as a JWK, sealed and bound to `kid` (spec#signing-keys-sealed). */
  sealed: string;
  signsFrom: Date;
  createdAt: Date;
}

/** A key that operators have made. Of the token itself only the hash is there. */
export interface ApiKey {
  id: string;
  /** Of a server key; null for a key of operators. */
  projectId: string | null;
  hash: string;
  name: string;
  /** None for a server key. */
  scopes: readonly OperatorScope[];
  /** Null is every project. */
  projectIds: readonly string[] | null;
  expiresAt: Date | null;
  createdAt: Date;
}

/** Failed attempts at one account: what the next wait follows from. Times in Unix ms. */
export interface Failures {
  /** Those that count together; empty once attempts have to wait. */
  recent: number[];
  /** How many waits there were. */
  waits: number;
  /** The last of all. */
  last: number;
}

/** What is known of attempts at an address, or of a client of an account. */
export interface Attempt {
  /** When the client last signed in to the account, Unix ms; null for an address. */
  signedInAt: number | null;
  failures: Failures | null;
}

/** How long failures count after the last one, in ms (spec#accounts-attempts-end). */
export const failuresKeptMs = 24 * 3600_000;
/** How long an account knows a client after a sign-in, in ms (spec#accounts-attempts-known-client). */
export const clientKnownMs = 30 * 24 * 3600_000;
/** A sign-in so soon after another of its client is not noted, in ms. A client is known that much longer. */
export const renewMs = 3600_000;
