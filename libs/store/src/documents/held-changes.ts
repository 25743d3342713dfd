import { AsyncLocalStorage } from 'node:async_hooks';
import { CarriedEvent } from './carried-event.ts';
import type { AnyChange, Refusal, Replies } from './documents.ts';

const holding = new AsyncLocalStorage<HeldChanges>();

/**
 * Holds back the changes of one request until its answer is known, so that one write can store a change with the answer
 * (docs/adr/0046). For the caller of `change`, a held change looks as if it had been made. If the change is refused later, the
 * work of the request is done again, and this time `change` returns the refusal.
 */
export class HeldChanges {
  readonly changes: AnyChange[] = [];
  readonly #after: (() => unknown)[] = [];
  readonly #unmade: (() => Promise<void>)[] = [];
  #refused: { at: number; refusal: Refusal } | undefined;
  /** Whether the work is under way. If parts of the work still run after its end, the changes of these parts are not held. */
  isOpen = true;

  readonly #replies: Replies | undefined;

  /**
   * @param replies The answers of a database. Changes of this database are held. The work may also call services with other
   * databases. Changes in those databases are not held.
   * @param refused If the work was done before and a change was refused: the position of that change, and the refusal.
   */
  constructor(replies: Replies | undefined, refused?: { at: number; refusal: Refusal }) {
    this.#replies = replies;
    this.#refused = refused;
  }

  /**
   * The `HeldChanges` of the calling work, or `undefined` if the work's changes are not held. With `replies`, also `undefined`
   * if changes of another database are held.
   */
  static current(replies?: Replies): HeldChanges | undefined {
    const held = holding.getStore();
    return held?.isOpen && (!replies || held.#replies === replies) ? held : undefined;
  }

  /** Does work whose changes are held. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await holding.run(this, work);
    } finally {
      this.isOpen = false;
    }
  }

  hold(changes: readonly AnyChange[]): ('made' | Refusal)[] {
    if (changes.length !== 1)
      throw new TypeError('A request with an idempotency key makes its changes one by one.');
    if (this.#refused?.at === this.changes.length) {
      const { refusal } = this.#refused;
      this.#refused = undefined;
      return [refusal];
    }
    this.changes.push(...changes);
    return ['made'];
  }

  later(work: () => unknown): void {
    this.#after.push(work);
  }

  ifUnmade(work: () => Promise<void>): void {
    this.#unmade.push(work);
  }

  /** Runs all work that `ifUnmade` has received. Call this method when it is certain that none of the changes is made. */
  async undo(): Promise<void> {
    for (const work of this.#unmade) await work();
  }

  /**
   * Runs all work that `later` has received. Call it after the changes are made. At the end, rejects with the first failure, if
   * any.
   */
  async follow(): Promise<void> {
    const done = await Promise.allSettled(this.#after.map(async (work) => work()));
    const failed = done.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

/**
 * Does work that follows from a change that was just made. If changes are held, does the work after they are stored. If not,
 * does it immediately. The process may die before the work is done, so the work must be repeatable or unimportant. The answer
 * must not depend on the work, because the answer of a request with an idempotency key is stored with the change. If changes
 * are held and the work fails, the failure is only logged.
 */
export function afterChange<T>(work: () => T): T | undefined {
  const held = HeldChanges.current();
  if (!held) return work();
  held.later(work);
  return undefined;
}

/**
 * If the changes of the request are held, keeps `work` for later. The work is done when it becomes certain that none of these
 * changes was made. If the process dies before that, the work is not done. `work` must not fail. Returns whether the changes
 * are held.
 */
export function ifUnmade(work: () => Promise<void>): boolean {
  const held = HeldChanges.current();
  held?.ifUnmade(work);
  return held !== undefined;
}

/**
 * Does work whose changes are not part of the request under way. These changes are made immediately, and stay even if the
 * request is refused. Use it for changes that must stay even if the request fails, such as the record of a failed attempt.
 * These changes carry no event of the request either (`CarriedEvent`).
 */
export function apart<T>(work: () => T): T {
  return holding.exit(() => CarriedEvent.without(work));
}
