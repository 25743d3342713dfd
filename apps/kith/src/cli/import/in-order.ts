import type { Batch } from './batches.ts';
import type { SentRows } from './send.ts';

export interface InOrderOptions {
  /** How many batches may be under way now. */
  atOnce(): number;
  /** Sends a batch. `signal` ends the sending early when another batch has failed. */
  send(batch: Batch, signal: AbortSignal): Promise<SentRows>;
  /** Called once for each answered batch, one batch after the other, in the order of the file. */
  settle(batch: Batch, result: SentRows): Promise<void>;
}

/**
 * Sends a few batches at the same time. Settles the answered batches one after the other, in the order of the file. So the
 * settled batches are always the beginning of the file, without a gap. If a batch takes or needs a name that an earlier batch
 * takes, the batch is sent after the earlier batch is done. So the first row with a name gets the name, and a parent exists
 * before its children.
 */
export class InOrder {
  readonly #options: InOrderOptions;
  readonly #underWay = new Map<Batch, Promise<void>>();
  readonly #failed = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(options: InOrderOptions) {
    this.#options = options;
  }

  /**
   * Sends a batch as soon as fewer than `atOnce()` batches are under way and the batch depends on none of them. Rejects if this
   * batch or an earlier one has failed.
   */
  async add(batch: Batch): Promise<void> {
    while (this.#underWay.size >= this.#options.atOnce() || this.#hangsOnOthers(batch)) await this.#oldest();
    const answer = this.#options.send(batch, this.#failed.signal);
    // The answer is awaited later, in the order of the file. If the request fails before that, no code awaits the failure yet.
    // Without this line, Node would then end the process.
    answer.catch(() => undefined);
    const before = this.#last;
    const settled = (async () => {
      await before;
      await this.#options.settle(batch, await answer);
      this.#underWay.delete(batch);
    })();
    settled.catch(() => this.#failed.abort());
    this.#underWay.set(batch, settled);
    this.#last = settled;
  }

  /** Resolves when all batches are settled. Rejects if a batch has failed; no later batch is settled then. */
  end(): Promise<void> {
    return this.#last;
  }

  async #oldest(): Promise<void> {
    const [oldest] = this.#underWay.values();
    await oldest;
  }

  #hangsOnOthers({ takes, needs }: Batch): boolean {
    for (const { takes: taken } of this.#underWay.keys())
      if (isAnyIn(takes, taken) || isAnyIn(needs, taken)) return true;
    return false;
  }
}

function isAnyIn(names: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  for (const name of names) if (all.has(name)) return true;
  return false;
}
