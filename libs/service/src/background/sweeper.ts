import { afterChange } from '@kith/store';
import type { Logger } from 'pino';

/**
 * Runs a piece of work again and again: `everyMs` after the end of the last run, or immediately on `kick`. `stop` waits for the
 * work. So long work can ask `isStopped`, and end early.
 */
export class Sweeper {
  readonly #work: (isStopped: () => boolean) => Promise<void>;
  readonly #everyMs: number;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isAsked = false;
  #stopped = false;

  constructor(work: (isStopped: () => boolean) => Promise<void>, options: { everyMs: number; log: Logger }) {
    this.#work = work;
    this.#everyMs = options.everyMs;
    this.#log = options.log;
    this.#schedule();
  }

  /**
   * Runs the work now. If a run is under way already, another run begins as soon as that run has ended. If the caller's changes
   * are held (`HeldChanges`), the work runs after the changes are stored.
   */
  kick(): void {
    afterChange(() => this.#kick());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #kick(): void {
    if (this.#stopped) return;
    this.#isAsked = this.#running !== undefined;
    if (!this.#isAsked) this.#run();
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => this.#run(), this.#isAsked ? 0 : this.#everyMs);
    this.#isAsked = false;
    this.#timer.unref();
  }

  #run(): void {
    clearTimeout(this.#timer);
    this.#running = this.#work(() => this.#stopped)
      .catch((error) => this.#log.warn({ err: error }, 'sweep failed'))
      .finally(() => {
        this.#running = undefined;
        this.#schedule();
      });
  }
}
