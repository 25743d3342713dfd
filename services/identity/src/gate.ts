import { DeadlinePassed } from '@kith/base';

/** Lets at most `limit` pieces of work run at once; the others wait in turn. */
export class Gate {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Runs `work` when its turn comes. Throws `DeadlinePassed` when `deadline` (Unix ms) is over by then. */
  async run<T>(deadline: number, work: () => Promise<T>): Promise<T> {
    // Who ends hands its place over, so nobody can slip in before one who waits.
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
