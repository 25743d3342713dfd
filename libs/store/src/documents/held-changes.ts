import { AsyncLocalStorage } from 'node:async_hooks';
import { CarriedEvent } from './carried-event.ts';
import type { AnyChange, Refusal, Replies } from './documents.ts';

const holding = new AsyncLocalStorage<HeldChanges>();

/**
 * Holds the changes of one request back until its answer is known, so that both can be stored in one write (docs/adr/0046). To
 * whoever asks for a change it is made. If it is refused later, the work is done again and told of the refusal.
 */
export class HeldChanges {
  readonly changes: AnyChange[] = [];
  readonly #after: (() => unknown)[] = [];
  #refused: { at: number; refusal: Refusal } | undefined;
  /** Whether the work is under way: what it has left running makes changes as any other. */
  isOpen = true;

  readonly #replies: Replies | undefined;

  /**
   * @param replies Those of the database whose changes are held; the work may ask services that have others.
   * @param refused What became of a change, by position, when the work was done before.
   */
  constructor(replies: Replies | undefined, refused?: { at: number; refusal: Refusal }) {
    this.#replies = replies;
    this.#refused = refused;
  }

  /** The one that holds the changes of the work that is under way here, if any; of one database, if that is given. */
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

  /** Does what was to follow from the changes, now that they are made. All of it is tried; rejects with the first failure. */
  async follow(): Promise<void> {
    const done = await Promise.allSettled(this.#after.map(async (work) => work()));
    const failed = done.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
  }
}

/**
 * Does what follows from a change that was just made: at once, or, where changes are held, after they are stored. It is repeatable
 * or may be left undone, as the process may die before it.
 */
export function afterChange<T>(work: () => T): T | undefined {
  const held = HeldChanges.current();
  if (!held) return work();
  held.later(work);
  return undefined;
}

/**
 * Does work whose changes are not part of the request under way: they are made at once, and stay where it is refused. For what
 * counts whatever the answer is, such as a failed attempt. They carry no event of the work either (`CarriedEvent`).
 */
export function apart<T>(work: () => T): T {
  return holding.exit(() => CarriedEvent.without(work));
}
