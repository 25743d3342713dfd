import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEnvelope } from '@kith/contracts';
import type { Outbox } from '../outbox/outbox.ts';
import type { AnyChange, Refusal } from './documents.ts';

type Make = (changes: readonly AnyChange[]) => Promise<('made' | Refusal)[]>;

const carrying = new AsyncLocalStorage<CarriedEvent>();

/**
 * An event that tells of a whole piece of work, whatever it changes: it is stored in one write with the first change that the work
 * makes in a database (docs/adr/0060).
 */
export class CarriedEvent {
  readonly #outbox: Outbox;
  readonly #make: () => EventEnvelope | undefined;
  #isOpen = true;
  /** Whether a change has taken it along. */
  isStored = false;

  /**
   * @param outbox That of the database; the work may ask services that have others.
   * @param make Makes it for a change; nothing, where that change is not to carry it.
   */
  constructor(outbox: Outbox, make: () => EventEnvelope | undefined) {
    this.#outbox = outbox;
    this.#make = make;
  }

  /** Makes changes of a database, with the event that waits for one there, if any. */
  static along(outbox: Outbox, changes: readonly AnyChange[], make: Make): ReturnType<Make> {
    const carried = carrying.getStore();
    if (!carried || carried.isStored || !carried.#isOpen || carried.#outbox !== outbox) return make(changes);
    return carried.#with(changes, make);
  }

  /** Does work of which nothing carries it. */
  static without<T>(work: () => T): T {
    return carrying.exit(work);
  }

  /** Does work whose first change carries it. What the work leaves running does not. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await carrying.run(this, work);
    } finally {
      this.#isOpen = false;
    }
  }

  /** Makes changes, the first of which carries it if it may; refused, it leaves it to a later one. */
  async #with(changes: readonly AnyChange[], make: Make): ReturnType<Make> {
    const at = changes.findIndex((change) => !change.in.silent);
    const event = at === -1 ? undefined : this.#make();
    if (!event) return make(changes);
    const whole = changes.map((one, index) =>
      index === at ? { ...one, events: [...(one.events ?? []), event] } : one,
    );
    // At once, so that none that is made meanwhile carries it, too.
    this.isStored = true;
    try {
      const outcomes = await make(whole);
      this.isStored = outcomes[at] === 'made';
      return outcomes;
    } catch (error) {
      this.isStored = false;
      throw error;
    }
  }
}
