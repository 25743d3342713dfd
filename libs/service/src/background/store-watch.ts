import { within } from '@kith/base';
import type { Logger } from 'pino';
import { Sweeper } from './sweeper.ts';

/** Times for the checks of a store, in ms. `everyMs` is the pause between two checks. */
export interface StoreTimes {
  everyMs: number;
  /** How long a check may take. */
  checkMs: number;
  /** How long a store may fail its checks. After this time, the process has to end. */
  endAfterMs: number;
}

const defaultTimes: StoreTimes = { everyMs: 1_000, checkMs: 3_000, endAfterMs: 120_000 };

/**
 * Checks again and again whether a service's store answers. While the store does not answer, consumers wait (`subscribe`). So
 * no event loses delivery attempts during an outage, no matter how long the outage lasts. If the store stays unreachable for
 * too long, the process ends. Orchestrators restart a process that ends, but not a process that is only unhealthy
 * (docs/adr/0029).
 */
export class StoreWatch {
  /** Resolves when the store has been unreachable for so long that the process has to end. */
  readonly lost: Promise<Error>;
  readonly #lose: (error: Error) => void;
  readonly #check: () => Promise<void>;
  readonly #times: StoreTimes;
  readonly #log: Logger;
  readonly #sweeper: Sweeper;
  #awaySince: number | undefined;
  #back = Promise.withResolvers<void>();
  #stopped = false;

  constructor(check: () => Promise<void>, options: { log: Logger; times?: Partial<StoreTimes> | undefined }) {
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.lost = promise;
    this.#lose = resolve;
    this.#check = check;
    this.#times = { ...defaultTimes, ...options.times };
    this.#log = options.log;
    this.#sweeper = new Sweeper(() => this.#look(), { everyMs: this.#times.everyMs, log: this.#log });
  }

  /** Whether the last check has failed. */
  get isAway(): boolean {
    return this.#awaySince !== undefined;
  }

  /**
   * Checks the store now. If the store answers, resolves with `false`. If not, waits until the store answers, and then resolves
   * with `true`. If the service stops first, resolves with `false`.
   */
  async waitedForIt(): Promise<boolean> {
    await this.#look();
    if (!this.isAway || this.#stopped) return false;
    await this.#back.promise;
    return !this.#stopped;
  }

  /** Ends the checks, and releases everything that waits for the store. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#back.resolve();
    await this.#sweeper.stop();
  }

  async #look(): Promise<void> {
    let failure: unknown;
    try {
      const answered = within(
        this.#check().then(() => true),
        this.#times.checkMs,
      );
      if (!(await answered)) failure = new Error(`The store has not answered in ${this.#times.checkMs} ms.`);
    } catch (error) {
      failure = error;
    }
    if (failure === undefined) this.#isBack();
    else this.#hasFailed(failure);
  }

  #isBack(): void {
    if (!this.isAway) return;
    this.#awaySince = undefined;
    this.#back.resolve();
    this.#back = Promise.withResolvers();
    this.#log.warn('the store is back');
  }

  #hasFailed(error: unknown): void {
    if (!this.isAway) this.#log.error({ err: error }, 'the store is away');
    this.#awaySince ??= performance.now();
    const awayMs = performance.now() - this.#awaySince;
    if (awayMs < this.#times.endAfterMs) return;
    this.#lose(new Error(`The store has been away for ${Math.round(awayMs / 1000)} s.`, { cause: error }));
  }
}
