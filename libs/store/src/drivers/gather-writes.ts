import { setImmediate as nextTurn } from 'node:timers/promises';

interface Waiting<T> {
  item: T;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Combines items into one write if they arrive within a few turns of the event loop, or while a write is under way. `writeOne`
 * writes a single item. If the write of a group fails, `writeOne` writes each item of the group, so that no item fails because
 * of another item. It must be safe to write items twice, and in any order.
 */
export class GatheredWrites<T> {
  readonly #writeOne: (item: T) => Promise<void>;
  readonly #writeAll: (items: readonly T[]) => Promise<void>;
  readonly #most: number;
  readonly #turns: number;
  #waiting: Waiting<T>[] = [];
  #isWriting = false;

  constructor(options: {
    writeOne: (item: T) => Promise<void>;
    writeAll: (items: readonly T[]) => Promise<void>;
    /** Maximum number of items per write; the default is 200. */
    most?: number;
    /** How many turns of the event loop a write waits for more items; the default is 1. */
    turns?: number;
  }) {
    this.#writeOne = options.writeOne;
    this.#writeAll = options.writeAll;
    this.#most = options.most ?? 200;
    this.#turns = options.turns ?? 1;
  }

  /** Resolves when the item is stored, and rejects when it is not. */
  write(item: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#isWriting) void this.#writeWaiting();
    });
  }

  async #writeWaiting(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      for (let turn = 0; turn < this.#turns; turn++) await nextTurn();
      const group = this.#waiting.slice(0, this.#most);
      this.#waiting = this.#waiting.slice(this.#most);
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
        // Each item is written alone below, so that each caller gets the outcome of its own item.
      }
    }
    await Promise.all(group.map(({ item, resolve, reject }) => this.#writeOne(item).then(resolve, reject)));
  }
}
