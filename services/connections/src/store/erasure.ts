import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EndedUser, EndedUsers } from '@kith/service';
import type { Documents, Range } from '@kith/store';
import type { Pair } from '../pair.ts';
import { pairs, totals } from './collections.ts';
import { pairEvents, rangeOf, usersOf } from './keys.ts';
import { readOf } from './stored.ts';

type UserKey = Omit<EndedUser, 'endedAt'>;

const chunk = 1_000;

/** The steps that erase a user whose account has ended (spec#users-erasure). */
export class Erasure extends EndedUsers {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    super(documents);
    this.#documents = documents;
  }

  /** The ids of all users with whom a user has a stored pair. */
  async partners(user: UserKey): Promise<string[]> {
    const [above, below] = await Promise.all([this.#pairsOf(user), this.#pairsOf(user, 'higher')]);
    return [...above.map((id) => usersOf(id).higher), ...below.map((id) => usersOf(id).lower)];
  }

  /**
   * Removes a pair that has no rows in lists and no blocks. Returns `false` if the pair has changed meanwhile, if its last
   * event is not published yet, or if the store still holds another event of the pair.
   */
  async removePair(pair: Pair): Promise<boolean> {
    const { outbox } = this.#documents;
    const read = readOf(pair);
    if (!read) return true;
    const { range, last } = pairEvents(pair);
    if (await outbox.holds(range, { unpublished: true })) return false;
    const told = await outbox.published(range, 2);
    if (told.some(({ key }) => key !== last)) return false;
    // A late request can store the pair again, and so can an import after nine days.
    await outbox.noteEnd(last);
    return this.#documents.erase(pairs, read);
  }

  /** Removes the totals of a user who has no pairs. */
  async removeTotals(user: UserKey): Promise<void> {
    await this.#documents.clear(totals, { ...rangeOf(user), limit: 1 });
  }

  async #pairsOf(user: UserKey, index?: 'higher'): Promise<string[]> {
    const ids: string[] = [];
    for (let range: Range = { ...rangeOf(user), limit: chunk }; ; ) {
      const found = await this.#documents.range(pairs, range, index);
      ids.push(...found.map(({ id }) => id));
      const last = found.at(-1)?.id;
      if (last === undefined || found.length < chunk) return ids;
      // On SQLite, these reads do not yield to the event loop, so this pause lets other work run.
      await nextTurn();
      range = { ...range, above: index ? rangeOf(user).above + usersOf(last).lower : last };
    }
  }
}
