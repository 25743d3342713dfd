import type { EventEnvelope, Project as ProjectAnswer, PublicUser } from '@kith/contracts';
import type { Outbox, StoreConfig } from '@kith/service';
import type { ListPage, ListRange } from '../listing.ts';
import type { AccountStore } from './accounts.ts';
import type { BlockStore } from './blocks.ts';
import type { ImportStore } from './imports.ts';
import type { KeyStore } from './keys.ts';
import { openMongoStore } from './mongo.ts';
import type { SessionStore } from './sessions.ts';
import { openSqliteStore } from './sqlite.ts';

export type { AccountStore, Ending, RevocationReason } from './accounts.ts';
export type { Block, BlockStore } from './blocks.ts';
export type { ImportOutcome, ImportStore } from './imports.ts';
export type { KeyStore, SigningKey } from './keys.ts';
export { revokedPlace, type Session, type SessionStore } from './sessions.ts';

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

export interface ProjectStore {
  add(project: Project): Promise<void>;
  find(id: string): Promise<Project | null>;
  /** Stores what is given of the settings, and `updatedAt`; gives the project as it is then. */
  update(id: string, settings: Partial<ProjectSettings>, at: Date): Promise<Project | null>;
  /**
   * Projects after an id, by id, that have limits or web origins of their own, or something that is not public: the
   * settings that gateways go by.
   */
  withSettings(after: string, limit: number): Promise<Project[]>;
  /** All projects, newest first. */
  list(range: ListRange): Promise<ListPage<Project>>;
}

export interface UserStore {
  /** Stores a new user with its event. Of several taken names the foreign id is told, then the e-mail address. */
  add(
    user: User,
    event: EventEnvelope,
  ): Promise<'stored' | 'foreign-id-taken' | 'email-taken' | 'username-taken'>;
  /**
   * Stores a user's profile, `updatedAt`, `rev` and `seq` with the event of the change, if `rev` is one above the
   * stored one; else it is `stale`.
   */
  update(user: User, event: EventEnvelope): Promise<'stored' | 'stale' | 'username-taken'>;
  /** Notes a sign-in. Not a change of the user: neither `rev` nor an event. */
  touch(projectId: string, userId: string, at: Date): Promise<void>;
  find(projectId: string, userId: string): Promise<User | null>;
  /** @param email Lower-cased. */
  findByEmail(projectId: string, email: string): Promise<User | null>;
  /** The users there are of these ids, in no order. */
  findMany(projectId: string, userIds: readonly string[]): Promise<User[]>;
}

/** Looks people up otherwise than by id. */
export interface PeopleStore {
  /** @param username In any case. */
  findByUsername(projectId: string, username: string): Promise<User | null>;
  findByForeignId(projectId: string, foreignId: string): Promise<User | null>;
  /** Users of all projects by project and id, after `<project>|<user>`. */
  page(after: string, limit: number): Promise<User[]>;
  /** The project of a user, by the user's id alone. */
  projectOf(userId: string): Promise<string | null>;
  /** A project's users, newest first; with a `search`, folded, those whose username, name or e-mail address has it. */
  list(projectId: string, search: string, range: ListRange): Promise<ListPage<User>>;
  /**
   * Users whose username or name has `search`, folded: first usernames that begin with it, then names that do.
   * @param of.except Users who are not shown.
   */
  suggest(
    projectId: string,
    search: string,
    of: { limit: number; except: readonly string[] },
  ): Promise<User[]>;
}

/** A user who was deleted, until nothing is left of it. */
export interface DeletedUser {
  projectId: string;
  userId: string;
  /** The `seq` of the last event. */
  seq: number;
  deletedAt: Date;
}

/** How long the id of an ended account stays taken: longer than any event (7 days) or mark (8 days) of it. */
export const keepEndedMs = 9 * 24 * 3600 * 1000;

/** Ends accounts. */
export interface ErasureStore {
  /**
   * Deletes a user and stores the event of it, if `rev` is the stored one; else it is `stale`. The user is found no
   * more and its names are free at once; its sessions are to be revoked after it.
   */
  remove(user: User, event: EventEnvelope): Promise<'stored' | 'stale'>;
  /** Users whose erasure is not finished, first those deleted first. */
  unfinished(limit: number): Promise<DeletedUser[]>;
  /**
   * Erases the mark, once no event but the last is left and that is out; `false` while it is not so. The id alone stays for
   * `keepEndedMs`: an import must not bring it back while other services still hold marks and events of it.
   */
  finish(deleted: DeletedUser): Promise<boolean>;
}

/** What identity keeps. Two implementations pass one suite, `tests/store.test.ts`. */
export interface IdentityStore {
  readonly projects: ProjectStore;
  readonly users: UserStore;
  readonly people: PeopleStore;
  readonly erasure: ErasureStore;
  readonly blocks: BlockStore;
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly keys: KeyStore;
  readonly imports: ImportStore;
  /** The events of users and sessions. */
  readonly outbox: Outbox;
  /** Rejects when the database can not be used. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the store and brings its schema up to date. Throws `StartError`. */
export async function openStore(config: StoreConfig): Promise<IdentityStore> {
  return config.kind === 'mongo' ? openMongoStore(config) : openSqliteStore(config);
}
