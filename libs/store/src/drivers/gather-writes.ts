/** Items a write takes at most. */
const most = 200;

interface Waiting<T> {
  item: T;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Makes one write of what is to be written at the same time: what one turn of the loop brings, and what comes while a
 * write is under way. An item alone is written by `writeOne`, and so is each of a group whose write has failed, so that
 * none fails for another's sake. Items have to bear being written twice, and in any order.
 */
export class GatheredWrites<T> {
  readonly #writeOne: (item: T) => Promise<void>;
  readonly #writeAll: (items: readonly T[]) => Promise<void>;
  #waiting: Waiting<T>[] = [];
  #isWriting = false;

  constructor(options: {
    writeOne: (item: T) => Promise<void>;
    writeAll: (items: readonly T[]) => Promise<void>;
  }) {
    this.#writeOne = options.writeOne;
    this.#writeAll = options.writeAll;
  }

  /** Resolves when the item is stored, and rejects when it is not. */
  write(item: T): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ item, resolve, reject }) === 1 && !this.#isWriting) {
        setImmediate(() => void this.#writeWaiting());
      }
    });
  }

  async #writeWaiting(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.slice(0, most);
      this.#waiting = this.#waiting.slice(most);
      await this.#write(group);
    }
    this.#isWriting = false;
  }

  async #write(group: readonly Waiting<T>[]): Promise<void> {
    if (group.length > 1) {
      try {
        await this.#writeAll(group.map(({ item }) => item));
        for (const { resolve } of group) resolve();
        return;
      } catch {
        // Each is told what became of its own.
      }
    }
    await Promise.all(group.map(({ item, resolve, reject }) => this.#writeOne(item).then(resolve, reject)));
  }
}
