import type { Logger } from 'pino';

/** Runs a piece of work again and again, `everyMs` after the last run has ended. */
export class Sweeper {
  readonly #work: () => Promise<void>;
  readonly #everyMs: number;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(work: () => Promise<void>, options: { everyMs: number; log: Logger }) {
    this.#work = work;
    this.#everyMs = options.everyMs;
    this.#log = options.log;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#work()
        .catch((error) => this.#log.warn({ err: error }, 'sweep failed'))
        .finally(() => this.#schedule());
    }, this.#everyMs);
    this.#timer.unref();
  }
}
