import { clocksMs } from '@kith/base';
import { collection, type Documents, type Range, type Stored } from '@kith/store';
import { z } from 'zod';

/** Users whose accounts have ended recently, by `<project>|<user>`. */
export const erasedUserCollection = collection<{ until: number }>({
  name: 'erased',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: z.int() }),
  expires: ({ until }) => until,
});

/**
 * When `lateMs` is over, the service still looks for a user's data at intervals of this length, in ms. By then, data can arrive
 * only if a clock is wrong.
 */
const rarelyMs = 10 * 60_000;

interface UserKey {
  projectId: string;
  userId: string;
}

const batch = 1_000;

/** The users that a service has erased recently. Data of these users that arrives late is erased too. */
export class ErasedUsers {
  readonly #documents: Documents;
  /** When users whose `lateMs` is over are due again, Unix ms. */
  #rarelyAt = 0;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Marks a user at the time `now` (Unix ms). Data of the user may still arrive for `lateMs`. The mark stays longer, because
   * the clocks of replicas differ.
   */
  async mark(user: UserKey, now: number, lateMs: number): Promise<void> {
    const until = now + lateMs + clocksMs + rarelyMs;
    await this.#documents.keep(erasedUserCollection, [
      { id: idOf(user), doc: { until }, epoch: 0, version: until },
    ]);
  }

  /** Whether a user is marked. */
  async has(user: UserKey): Promise<boolean> {
    const id = idOf(user);
    return (await this.#documents.get(erasedUserCollection, [id])).has(id);
  }

  /**
   * Calls `erase` for each user who is due at `now` (Unix ms). While data may arrive, a user is due at every call, and after
   * that every ten minutes. If `erase` fails for some users, it is still called for the others. Then rejects with an
   * `AggregateError`, and the next call tries the failed users again.
   */
  async eachDue(now: number, erase: (user: UserKey) => Promise<void>): Promise<void> {
    const isForAll = now >= this.#rarelyAt;
    const failures: unknown[] = [];
    for (const user of await this.#due(now + (isForAll ? 0 : clocksMs + rarelyMs))) {
      await erase(user).catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} users not erased yet`);
    if (isForAll) this.#rarelyAt = now + rarelyMs;
  }

  /** The users whose marks stay until `until` (Unix ms) or longer. */
  async #due(until: number): Promise<UserKey[]> {
    const users: UserKey[] = [];
    for (let above: string | undefined = ''; above !== undefined; ) {
      const range: Range = { above, below: '~', limit: batch };
      const some: Stored<{ until: number }>[] = await this.#documents.range(erasedUserCollection, range);
      for (const { id, doc } of some) {
        const [projectId = '', userId = ''] = id.split('|');
        if (doc.until >= until) users.push({ projectId, userId });
      }
      above = some.length === batch ? some.at(-1)?.id : undefined;
    }
    return users;
  }
}

function idOf({ projectId, userId }: UserKey): string {
  return `${projectId}|${userId}`;
}
