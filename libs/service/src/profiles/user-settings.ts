import { isDeepStrictEqual } from 'node:util';
import { untilMade } from '@kith/base';
import { type Collection, collection, type DocumentSchema, type Documents } from '@kith/store';

interface UserKey {
  projectId: string;
  userId: string;
}

/**
 * Declares the collection in which a service keeps the settings of its users. The ids are `<project>|<user>`. A user who has
 * set nothing has no document.
 */
export function userSettingsCollection<Settings>(schema: DocumentSchema<Settings>): Collection<Settings> {
  return collection<Settings>({ name: 'settings', kind: 'target', version: 1, schema });
}

/**
 * The settings of users in a service. Each setting is stored only in the service that uses it, so there is no copy that could
 * be out of date.
 */
export class UserSettings<Settings> {
  readonly #documents: Documents;
  readonly #collection: Collection<Settings>;
  readonly #defaults: Settings;

  constructor(documents: Documents, of: Collection<Settings>, defaults: Settings) {
    this.#documents = documents;
    this.#collection = of;
    this.#defaults = defaults;
  }

  /** A user's settings; the defaults if the user has set nothing. */
  async of(user: UserKey): Promise<Settings> {
    return (await this.stored(user)) ?? this.#defaults;
  }

  /** What a user has set; null if the user has set nothing. */
  async stored(user: UserKey): Promise<Settings | null> {
    return (await this.#read(user))?.doc ?? null;
  }

  /**
   * Changes a user's settings and returns the new settings. Rejects with the errors of `untilMade`, and with any error that the
   * given function throws.
   */
  change(user: UserKey, change: (before: Settings) => Settings, deadline?: number): Promise<Settings> {
    const attempt = async () => {
      const read = await this.#read(user);
      const before = read?.doc ?? this.#defaults;
      const set = change(before);
      if (isDeepStrictEqual(set, before)) return { result: before };
      const target = read ?? idOf(user);
      const [outcome] = await this.#documents.change([{ in: this.#collection, target, set }]);
      return outcome === 'made' ? { result: set } : undefined;
    };
    return untilMade(attempt, { deadline });
  }

  /** Erases a user's settings. Repeatable. */
  async erase(user: UserKey): Promise<void> {
    await this.#documents.erase(this.#collection, idOf(user));
  }

  async #read(user: UserKey) {
    const id = idOf(user);
    return (await this.#documents.get(this.#collection, [id])).get(id);
  }
}

function idOf({ projectId, userId }: UserKey): string {
  return `${projectId}|${userId}`;
}
