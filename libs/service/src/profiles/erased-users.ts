import { type Collection, collection, type Documents, type Range, type Stored } from '@kith/store';
import { z } from 'zod';

/** Users whose accounts have ended recently, by `<project>|<user>`. */
export const erasedUserCollection: Collection<{ until: number }> = collection<{ until: number }>({
  name: 'erased',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: z.int() }),
  expires: ({ until }) => until,
});

interface UserKey {
  projectId: string;
  userId: string;
}

const batch = 1_000;

/** The users that a service has erased recently. Data of these users that arrives late is erased too. */
export class ErasedUsers {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Marks a user until a time (Unix ms). */
  async mark(user: UserKey, until: number): Promise<void> {
    await this.#documents.keep(erasedUserCollection, [
      { id: idOf(user), doc: { until }, epoch: 0, version: until },
    ]);
  }

  /** Whether a user is marked. */
  async has(user: UserKey): Promise<boolean> {
    const id = idOf(user);
    return (await this.#documents.get(erasedUserCollection, [id])).has(id);
  }

  /** The users whose mark has not expired at `now` (Unix ms). */
  async marked(now: number): Promise<UserKey[]> {
    const users: UserKey[] = [];
    for (let above: string | undefined = ''; above !== undefined; ) {
      const range: Range = { above, below: '~', limit: batch };
      const some: Stored<{ until: number }>[] = await this.#documents.range(erasedUserCollection, range);
      for (const { id, doc } of some) {
        const [projectId = '', userId = ''] = id.split('|');
        if (doc.until >= now) users.push({ projectId, userId });
      }
      above = some.length === batch ? some.at(-1)?.id : undefined;
    }
    return users;
  }
}

function idOf({ projectId, userId }: UserKey): string {
  return `${projectId}|${userId}`;
}
