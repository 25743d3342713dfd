import { AsyncLocalStorage } from 'node:async_hooks';
import type { EventEnvelope } from '@kith/contracts';
import type { Outbox } from '../outbox/outbox.ts';
import type { AnyChange, Refusal } from './documents.ts';

type Make = (changes: readonly AnyChange[]) => Promise<('made' | Refusal)[]>;

const carrying = new AsyncLocalStorage<CarriedEvent>();

/**
 * An event that reports a whole piece of work, and not one particular change. The first change that the work makes in a
 * database carries the event, so one write stores both (docs/adr/0060).
 */
export class CarriedEvent {
  readonly #outbox: Outbox;
  readonly #make: () => EventEnvelope | undefined;
  #isOpen = true;
  /** Whether the event was stored with a change. */
  isStored = false;

  /**
   * @param outbox The outbox of a database. A change in this database carries the event. The work may also call services with
   * other databases. Changes in those databases do not carry the event.
   * @param make Makes the event; returns `undefined` if a change must not carry it.
   */
  constructor(outbox: Outbox, make: () => EventEnvelope | undefined) {
    this.#outbox = outbox;
    this.#make = make;
  }

  /** Makes changes in a database. If an event waits for a change in this database, stores the event with the changes. */
  static along(outbox: Outbox, changes: readonly AnyChange[], make: Make): ReturnType<Make> {
    const carried = carrying.getStore();
    if (!carried || carried.isStored || !carried.#isOpen || carried.#outbox !== outbox) return make(changes);
    return carried.#with(changes, make);
  }

  /** Does work whose changes do not carry a waiting event. A later change carries it. */
  static without<T>(work: () => T): T {
    return carrying.exit(work);
  }

  /** Does work whose first change carries the event. Changes that are made after the work has ended do not carry it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await carrying.run(this, work);
    } finally {
      this.#isOpen = false;
    }
  }

  /**
   * Makes changes. The first change whose collection is not `silent` carries the event. If that change is refused, a later
   * change can carry the event.
   */
  async #with(changes: readonly AnyChange[], make: Make): ReturnType<Make> {
    const at = changes.findIndex((change) => !change.in.silent);
    const event = at === -1 ? undefined : this.#make();
    if (!event) return make(changes);
    const whole = changes.map((one, index) =>
      index === at ? { ...one, events: [...(one.events ?? []), event] } : one,
    );
    // `isStored` is set before the write, so that a change that is made during the write does not carry the event a second
    // time.
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
