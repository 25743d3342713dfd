import type { Bus } from '@kith/bus';
import type { PublicUser } from '@kith/contracts';
import { type Collection, collection, type Documents, type Stored } from '@kith/store';
import { z } from 'zod';

/** A user's public profile, with the order of the event that brought it. The order combines epoch and `seq` (`eventOrder`). */
export interface Profile {
  seq: number;
  user: PublicUser;
}

/** A user's public profile as it is stored. When the account has ended, a mark replaces the profile. */
export interface StoredProfile {
  user: PublicUser | null;
  /** When a mark expires, Unix ms. */
  goesAt?: number;
}

/** What is needed to keep a copy: the copy's store, and the bus for asking identity. A service's own context has both. */
export interface ProfileParts {
  bus: Bus;
  store: { profiles: ProfileCopy };
}

/**
 * How long the mark of a forgotten user is kept after the end of the account, in ms. An event of the user can be on the way for
 * at most 7 days. After 9 days, an import may use the id again (docs/adr/0018).
 */
const keepForgottenMs = 8 * 24 * 3600 * 1000;

/** A service's own copy of public users. The ids are `<project>|<user>`. */
export const profileCollection = collection<StoredProfile>({
  name: 'profiles',
  kind: 'copy',
  version: 1,
  // The event that brought the profile was already checked against its schema.
  schema: z.object({ user: z.custom<PublicUser>().nullable(), goesAt: z.int().optional() }),
  expires: ({ goesAt }) => goesAt ?? null,
});

/** A service's own copy of public users (ARCHITECTURE, decision 4). It has marks for users whose accounts have ended. */
export class ProfileCopy {
  readonly #documents: Documents;
  readonly #collection: Collection<StoredProfile>;

  /**
   * @param of The collection that holds the copy. A service that searches for users passes a collection that also holds the
   * texts by which users are found.
   */
  constructor(documents: Documents, of: Collection<StoredProfile> = profileCollection) {
    this.#documents = documents;
    this.#collection = of;
  }

  /** The profiles of these users, by id. A user who has no profile is left out. */
  async find(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>> {
    const users = new Map<string, PublicUser>();
    for (const { doc } of await this.#read(projectId, userIds))
      if (doc.user) users.set(doc.user.id, doc.user);
    return users;
  }

  /** Stores a profile, unless the copy already has this profile or a newer profile of the user. */
  keep(profile: Profile): Promise<void> {
    return this.keepAll([profile]);
  }

  /** Stores many profiles, each as `keep` does. */
  keepAll(profiles: readonly Profile[]): Promise<void> {
    return this.#documents.keep(
      this.#collection,
      profiles.map(({ seq, user }) => ({
        ...{ id: `${user.projectId}|${user.id}`, doc: { user }, epoch: 0, version: seq },
      })),
    );
  }

  /**
   * Removes the profile of a user whose account has ended. A mark without content replaces the profile while events of the user
   * can still be on the way, so that a late event does not bring the user back. Calling this method again changes nothing.
   * @param endedAt When the account ended (Unix ms).
   */
  async forget({ projectId, userId }: { projectId: string; userId: string }, endedAt: number): Promise<void> {
    const doc = { user: null, goesAt: endedAt + keepForgottenMs };
    const mark = { id: `${projectId}|${userId}`, doc, epoch: 0, version: 'mark' } as const;
    await this.#documents.keep(this.#collection, [mark]);
  }

  /** Which of these users are marked as forgotten. */
  async forgotten(projectId: string, userIds: readonly string[]): Promise<Set<string>> {
    const marks = (await this.#read(projectId, userIds)).filter(({ doc }) => doc.user === null);
    return new Set(marks.map(({ id }) => id.slice(id.indexOf('|') + 1)));
  }

  async #read(projectId: string, userIds: readonly string[]): Promise<Stored<StoredProfile>[]> {
    const ids = userIds.map((userId) => `${projectId}|${userId}`);
    return [...(await this.#documents.get(this.#collection, ids)).values()];
  }
}
