import { AsyncLocalStorage } from 'node:async_hooks';
import { CarriedEvent } from './carried-event.ts';
import type { AnyChange, Refusal, Replies } from './documents.ts';

const holding = new AsyncLocalStorage<HeldChanges>();

/**
 * Holds back the changes of one request until its answer is known, so that one write can store both (docs/adr/0046). To the
 * caller, a held change looks made. If it is refused later, the work is done again and then gets the refusal.
 */
export class HeldChanges {
  readonly changes: AnyChange[] = [];
  readonly #after: (() => unknown)[] = [];
  #refused: { at: number; refusal: Refusal } | undefined;
  /** Whether the work is under way. If parts of it still run after its end, their changes are made as usual. */
  isOpen = true;

  readonly #replies: Replies | undefined;

  /**
   * @param replies The answers in the database whose changes are held. The work may also ask services with other databases.
   * @param refused The position of the change that was refused when the work was done before, and the refusal.
   */
  constructor(replies: Replies | undefined, refused?: { at: number; refusal: Refusal }) {
    this.#replies = replies;
    this.#refused = refused;
  }

  /** The `HeldChanges` of the work that is under way here, if any; with `replies`, only if it holds changes of that database. */
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
    if (changes.length !== 1) throw new TypeError('A request with a key makes its changes one by one.');
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

  /** Runs what `later` was given, now that the changes are made. Tries everything, and rejects with the first failure. */
  async follow(): Promise<void> {
    const done = await Promise.allSettled(this.#after.map(async (work) => work()));
    const failed = done.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

/**
 * Does work that follows from a change that was just made: immediately, or, if changes are held, after they are stored. The
 * process may die before that, so the work must be repeatable or unimportant.
 */
export function afterChange<T>(work: () => T): T | undefined {
  const held = HeldChanges.current();
  if (!held) return work();
  held.later(work);
  return undefined;
}

/**
 * Does work whose changes are not part of the request under way: they are made immediately, and stay even if the request is
 * refused. It is for changes that count whatever the answer is, such as a failed attempt. They carry no event of the request
 * either (`CarriedEvent`).
 */
export function apart<T>(work: () => T): T {
  return holding.exit(() => CarriedEvent.without(work));
}
