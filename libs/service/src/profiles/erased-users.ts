import { setImmediate as nextTurn } from 'node:timers/promises';
import { clocksMs } from '@kith/base';
import { collection, type Documents, type Range, type Stored } from '@kith/store';
import type { Logger } from 'pino';
import { z } from 'zod';
import { Sweeper } from '../background/sweeper.ts';
import { type Looks, nextLook } from './ended-users.ts';

/** Users whose accounts have ended recently. The ids are `<project>|<user>`. */
export const erasedUserCollection = collection<{ until: number }>({
  name: 'erased',
  kind: 'copy',
  version: 1,
  schema: z.object({ until: z.int() }),
  expires: ({ until }) => until,
});

/**
 * How long a mark stays after the time of the last look for the user's data, in ms. With this extra time, a delayed sweep still
 * finds the mark.
 */
const spareMs = 10 * 60_000;

interface UserKey {
  projectId: string;
  userId: string;
}

const batch = 1_000;

/** The users that a service has erased recently. Data of these users that arrives late is erased too. */
export class ErasedUsers {
  readonly #documents: Documents;
  /**
   * For each mark, by its id: when to look for the data of the user again (Unix ms). `until` is the value of the mark. If the
   * value differs, the user was marked again, and the looks begin again.
   */
  #looks = new Map<string, { until: number; lookAt: number }>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Marks a user at the time `now` (Unix ms). Data of the user may still arrive for `lateMs`. The mark stays longer, because
   * the clocks of replicas differ.
   */
  async mark(user: UserKey, now: number, lateMs: number): Promise<void> {
    const until = now + lateMs + clocksMs + spareMs;
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
   * Calls `erase` for each user who is due. A user is due at the first call of a process, and then after longer and longer
   * waits (`nextLook`). `lateMs` must have the same value as in `mark`. If `erase` fails for some users, it is still called for
   * the others. Then rejects with an `AggregateError`, and the next call tries the failed users again.
   */
  async eachDue(
    erase: (user: UserKey) => Promise<void>,
    { looks, isStopped, clock = Date.now }: { looks: Looks; isStopped: () => boolean; clock?: () => number },
  ): Promise<void> {
    const now = clock();
    const failures: unknown[] = [];
    const marks = await this.#marks(now);
    const known = this.#looks;
    this.#looks = new Map();
    for (const [id, until] of marks) {
      const look = known.get(id);
      if (look?.until === until && look.lookAt > now) {
        this.#looks.set(id, look);
        continue;
      }
      if (isStopped()) return;
      const [projectId = '', userId = ''] = id.split('|');
      try {
        await erase({ projectId, userId });
        const endedAt = until - looks.lateMs - clocksMs - spareMs;
        this.#looks.set(id, { until, lookAt: nextLook(endedAt, now, looks) ?? Infinity });
      } catch (error) {
        failures.push(error);
      }
      await nextTurn();
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} users not erased yet`);
  }

  /** Calls `eachDue` every `everyMs`. For each user, the first wait (`nextLook`) is also `everyMs`. */
  sweeper(
    erase: (user: UserKey) => Promise<void>,
    { lateMs, ...every }: { lateMs: number; everyMs: number; log: Logger },
  ): Sweeper {
    const looks = { firstMs: every.everyMs, lateMs };
    return new Sweeper((isStopped) => this.eachDue(erase, { looks, isStopped }), every);
  }

  /** The marks that stay until `now` (Unix ms) or longer. */
  async #marks(now: number): Promise<[id: string, until: number][]> {
    const marks: [string, number][] = [];
    for (let above: string | undefined = ''; above !== undefined; ) {
      const range: Range = { above, below: '~', limit: batch };
      const some: Stored<{ until: number }>[] = await this.#documents.range(erasedUserCollection, range);
      for (const { id, doc } of some) if (doc.until >= now) marks.push([id, doc.until]);
      above = some.length === batch ? some.at(-1)?.id : undefined;
      await nextTurn();
    }
    return marks;
  }
}

function idOf({ projectId, userId }: UserKey): string {
  return `${projectId}|${userId}`;
}
