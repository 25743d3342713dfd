import { DeadlinePassed } from '@kith/base';

/** Runs at most `limit` pieces of work at the same time; the others wait for their turn. */
export class Gate {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs `work` when its turn comes. If `deadline` (Unix ms) has passed by then, throws `DeadlinePassed` instead. */
  async run<T>(deadline: number, work: () => Promise<T>): Promise<T> {
    // When a piece of work is finished, the piece that has waited longest runs next. So newer work cannot overtake older work.
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      if (Date.now() >= deadline) throw new DeadlinePassed();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
