import type { User } from './index.ts';

/** What became of a user that was to be stored; `there`: as who is stored under its id; `deleted`: one was, not long ago. */
export type ImportOutcome =
  | 'stored'
  | { there: User }
  | 'deleted'
  | 'id-taken'
  | 'foreign-id-taken'
  | 'email-taken'
  | 'username-taken';

/** Brings users of another back end in. They begin without events: `seq` 0 (docs/adr/0018). */
export interface ImportStore {
  /**
   * Stores new users and tells of each, in their order, what became of it; of several of one id the first is tried first.
   * Who is there stays as it is; nobody comes whose id or foreign id was that of an account that has ended.
   */
  add(projectId: string, users: readonly User[]): Promise<ImportOutcome[]>;
  /** Notes kinds of password hashes as ones a project has, each that `mayAdd` to those it has, and gives all it has then. */
  noteHashKinds(
    projectId: string,
    kinds: readonly string[],
    mayAdd: (known: readonly string[], kind: string) => boolean,
  ): Promise<string[]>;
  /** The kinds of password hashes that were imported into a project. */
  hashKinds(projectId: string): Promise<string[]>;
  /** Stores another hash of a user's password in the place of one; nothing when that is no longer the stored one. */
  replaceHash(user: Pick<User, 'projectId' | 'id'>, from: string, to: string): Promise<void>;
  /** Which of these ids and foreign ids are users' of a project. */
  known(
    projectId: string,
    of: { ids: readonly string[]; foreignIds: readonly string[] },
  ): Promise<{ ids: string[]; foreignIds: { foreignId: string; id: string }[] }>;
}
