import { AsyncResource } from 'node:async_hooks';
import type { DatabaseSync } from 'node:sqlite';
import { GatheredWrites } from './gather-writes.ts';
import { bulkTransaction } from './sqlite.ts';

/**
 * How many turns of the event loop a bulk waits for other bulks. The bodies of requests that were sent at the same time arrive
 * within a few turns. If nothing arrives, these turns take no time.
 */
const turns = 3;
/** How many bulks one transaction makes at most. No other request is served meanwhile. */
const most = 4;

/**
 * If bulks arrive at about the same time, makes them in one transaction. Their rows are spread over the same pages, and a
 * transaction writes each changed page only once.
 */
export class SqliteBulks {
  readonly #gathered: GatheredWrites<() => void>;

  constructor(db: DatabaseSync) {
    const writeAll = async (bulks: readonly (() => void)[]) =>
      bulkTransaction(db, () => {
        for (const bulk of bulks) bulk();
      });
    this.#gathered = new GatheredWrites({ writeOne: (bulk) => writeAll([bulk]), writeAll, most, turns });
  }

  /**
   * Resolves when the changes of `work` are stored. If `work` throws, none of them is stored, and the promise rejects. If
   * another bulk of the transaction throws, `work` runs again.
   */
  async run<T>(work: () => T): Promise<T> {
    let result: T | undefined;
    // The work runs in the async context of its own caller, so that its events carry the trace of this caller.
    const bulk = AsyncResource.bind(() => {
      result = work();
    });
    await this.#gathered.write(bulk);
    return result as T;
  }
}
