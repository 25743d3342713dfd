import { setImmediate as nextTurn } from 'node:timers/promises';
import { clocksMs } from '@kith/base';
import { collection, type Documents, timeKey } from '@kith/store';
import { z } from 'zod';

/** A user whose account has ended. Perhaps some data of the user is not erased yet. */
export interface EndedUser {
  projectId: string;
  userId: string;
  /** When the service learned of the end, as Unix time in ms, by the clock of the replica that learned of it. */
  endedAt: number;
}

type UserKey = Pick<EndedUser, 'projectId' | 'userId'>;

/** How many users are read at a time. */
const batch = 10;
const mostFailures = 50;

/**
 * Users to erase. The ids are `<project>|<user>`. `lookAt` is the time at which the service next looks for the user's data.
 */
export const endedUserCollection = collection<{ endedAt: number; lookAt: number }>({
  name: 'endedUsers',
  kind: 'target',
  silent: true,
  version: 1,
  schema: z.object({ endedAt: z.int(), lookAt: z.int() }),
  indexes: { lookAt: { key: ({ lookAt }) => timeKey(lookAt) } },
});

/** How often a service looks for data of a user that may arrive late, in ms (`nextLook`). */
export interface Looks {
  firstMs: number;
  lateMs: number;
}

/**
 * When to look for a user's data again (Unix ms), or `null` after the last look. Nothing that began before the end of the
 * account takes longer than `lateMs`. The service continues to look for `clocksMs` after this time. The reason is that one
 * replica may mark a user, another replica may erase the user's data, and their clocks may differ. The waits begin with
 * `firstMs` and get longer, because less and less data can still arrive.
 */
export function nextLook(endedAt: number, now: number, { firstMs, lateMs }: Looks): number | null {
  const last = endedAt + lateMs + clocksMs;
  return now >= last ? null : Math.min(last, Math.max(now + firstMs, 2 * now - endedAt));
}

/** A service's list of users whose accounts have ended (spec#users-erasure). Each step can be repeated. */
export class EndedUsers {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** Marks a user as a user to erase. An existing mark stays as it is. */
  async mark(user: UserKey, endedAt: number): Promise<void> {
    const set = { endedAt, lookAt: endedAt };
    await this.#documents.change([{ in: endedUserCollection, target: idOf(user), set }]);
  }

  /** Up to `limit` users whose `lookAt` is not after `now` (Unix ms). The user who has waited longest comes first. */
  async due(now: number, limit: number): Promise<EndedUser[]> {
    const range = { above: '', below: timeKey(now + 1), limit };
    const found = await this.#documents.range(endedUserCollection, range, 'lookAt');
    return found.map(({ id, doc }) => {
      const [projectId = '', userId = ''] = id.split('|');
      return { projectId, userId, endedAt: doc.endedAt };
    });
  }

  /**
   * Calls `erase` for every user who is due, until nobody is due any more. `erase` has to set the next `lookAt` of its user. If
   * some users cannot be erased, still erases the others, and throws an `AggregateError` at the end. Stops after fifty
   * failures, because the cause is then probably the same for all users.
   */
  async eachDue(
    erase: (user: EndedUser, now: number) => Promise<void>,
    { clock = Date.now, isStopped }: { clock?: (() => number) | undefined; isStopped: () => boolean },
  ): Promise<void> {
    const failures = new Map<string, unknown>();
    for (let hasMore = true; hasMore && failures.size < mostFailures; ) {
      const now = clock();
      // The users who could not be erased are still due, and come first in the result. So the query has to return more users
      // than a batch.
      const some = await this.due(now, batch + failures.size);
      const due = some.filter((user) => !failures.has(idOf(user)));
      for (const user of due) {
        if (isStopped()) return;
        await erase(user, now).catch((error) => failures.set(idOf(user), error));
        await nextTurn();
      }
      hasMore = due.length >= batch;
    }
    if (failures.size > 0)
      throw new AggregateError([...failures.values()], `${failures.size} users not erased yet`);
  }

  /**
   * Sets the `lookAt` of a user to `at` (Unix ms). If another process sets the `lookAt` at the same time, the value of the
   * faster process stays. If `at` is `null`, removes the user from the list.
   */
  async lookAgain(user: UserKey, at: number | null): Promise<void> {
    const id = idOf(user);
    if (at === null) return void (await this.#documents.erase(endedUserCollection, id));
    const target = (await this.#documents.get(endedUserCollection, [id])).get(id);
    if (!target) return;
    const set = { ...target.doc, lookAt: at };
    await this.#documents.change([{ in: endedUserCollection, target, set }]);
  }
}

function idOf({ projectId, userId }: UserKey): string {
  return `${projectId}|${userId}`;
}
