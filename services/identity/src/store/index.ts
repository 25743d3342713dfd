import type { Project as ProjectAnswer, PublicUser } from '@kith/contracts';
import type { Outbox, StoreConfig } from '@kith/service';
import { openDocuments } from '@kith/service/documents';
import { Accounts } from './accounts.ts';
import { Blocks } from './blocks.ts';
import { declared } from './collections.ts';
import { Erasure } from './erasure.ts';
import { Imports } from './imports.ts';
import { Keys } from './keys.ts';
import { People } from './people.ts';
import { Projects } from './projects.ts';
import { Sessions } from './sessions.ts';
import { Users } from './users.ts';

export type { Ending, RevocationReason } from './accounts.ts';
export type { Block } from './blocks.ts';
export { type DeletedUser, keepEndedMs } from './erasure.ts';
export type { ImportOutcome } from './imports.ts';
export type { SigningKey } from './keys.ts';
export { revokedPlace } from './keys-of.ts';
export type { Rotation, Session } from './sessions.ts';

/** What holds the keys of access tokens. */
export type KeyStore = Pick<Keys, keyof Keys>;

/** The part of a project that operators may set. */
export interface ProjectSettings {
  name: string;
  /** Verifies the JWTs of the project's own back end: SPKI as PEM, of RSA, EC P-256 or Ed25519. */
  publicKey: string | null;
  /** By operation; null is no limit. */
  limits: ProjectAnswer['limits'];
  webOrigins: readonly string[];
  publicProfiles: boolean;
  publicConnections: boolean;
}

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
  /** The id in the project's own back end; unique in its project. */
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

/** What identity keeps. */
export interface IdentityStore {
  readonly projects: Projects;
  readonly users: Users;
  readonly people: People;
  readonly erasure: Erasure;
  readonly blocks: Blocks;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly keys: Keys;
  readonly imports: Imports;
  /** The events of users and sessions. */
  readonly outbox: Outbox;
  /** Takes away what is over, and puts right what processes left behind when they died. */
  sweep(): Promise<void>;
  /** Rejects when the database can not be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store and brings its schema up to date. Throws `StartError`. */
export async function openStore(config: StoreConfig): Promise<IdentityStore> {
  const documents = await openDocuments(config, declared);
  return {
    projects: new Projects(documents),
    users: new Users(documents),
    people: new People(documents),
    erasure: new Erasure(documents),
    blocks: new Blocks(documents),
    accounts: new Accounts(documents),
    sessions: new Sessions(documents),
    keys: new Keys(documents),
    imports: new Imports(documents),
    outbox: documents.outbox,
    sweep: () => documents.sweep(),
    check: () => documents.check(),
    close: () => documents.close(),
  };
}
