import type { Batch } from './batches.ts';
import type { SentRows } from './send.ts';

/** Requests under way at the same time: enough that the platform never waits for the file to be read. */
const atOnce = 4;

export interface InOrderOptions {
  /** `signal` ends it early when another batch has failed. */
  send(batch: Batch, signal: AbortSignal): Promise<SentRows>;
  /** Called for each batch once it is answered, one after the other, in the order of the file. */
  settle(batch: Batch, result: SentRows): Promise<void>;
}

/**
 * Sends a few batches at the same time, and settles them in the order of the file: the settled batches are the beginning of the
 * file, without a gap. A batch that takes or needs a name which an earlier batch takes is sent once that batch is done: so the first
 * row with a name gets it, and a parent is there before its children.
 */
export class InOrder {
  readonly #options: InOrderOptions;
  readonly #underWay = new Map<Batch, Promise<void>>();
  readonly #failed = new AbortController();
  #last: Promise<void> = Promise.resolve();

  constructor(options: InOrderOptions) {
    this.#options = options;
  }

  /** Sends a batch as soon as there is room. Rejects when this one, or one before it, has failed. */
  async add(batch: Batch): Promise<void> {
    while (this.#underWay.size >= atOnce || this.#hangsOnOthers(batch)) await this.#oldest();
    const answer = this.#options.send(batch, this.#failed.signal);
    // It is awaited in its turn; a failure before that must not end the process.
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

  /** Resolves when all is settled. Rejects when something has failed; nothing after that is settled. */
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
