import { AsyncResource } from 'node:async_hooks';
import type { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bulkTransaction } from './sqlite.ts';

/**
 * How many turns of the event loop a bulk waits for others. The bodies of requests that were sent at the same time arrive
 * within a few turns. If nothing arrives, these turns take no time.
 */
const turns = 3;
/** How many bulks one transaction makes at most. No other request is served meanwhile. */
const most = 4;

interface Waiting {
  /** Makes the changes; returns a function that answers the caller. */
  work: () => () => void;
  reject: (error: unknown) => void;
}

/**
 * Makes bulks that arrive at about the same time in one transaction. Their rows are spread over the same pages, and a
 * transaction writes each changed page only once.
 */
export class SqliteBulks {
  readonly #db: DatabaseSync;
  #waiting: Waiting[] = [];

  constructor(db: DatabaseSync) {
    this.#db = db;
  }

  /** Resolves when the changes of `work` are stored. If `work` throws, none of them is stored, and the promise rejects. */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      // The work runs in the async context of its own caller, so that its events carry the trace of this caller.
      const answering = AsyncResource.bind(() => {
        const result = work();
        return () => resolve(result);
      });
      if (this.#waiting.push({ work: answering, reject }) === 1) void this.#runWaiting();
    });
  }

  async #runWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      for (let turn = 0; turn < turns; turn++) await nextTurn();
      const group = this.#waiting.slice(0, most);
      this.#runTogether(group);
      this.#waiting = this.#waiting.slice(group.length);
    }
  }

  #runTogether(group: readonly Waiting[]): void {
    try {
      const answers = bulkTransaction(this.#db, () => group.map(({ work }) => work()));
      for (const answer of answers) answer();
    } catch (error) {
      const [only, ...others] = group;
      if (others.length === 0) only?.reject(error);
      // Each bulk is made alone, so that none fails because of another.
      else for (const one of group) this.#runTogether([one]);
    }
  }
}
