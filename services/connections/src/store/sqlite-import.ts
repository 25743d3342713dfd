import type { LivePair } from '../act.ts';
import { entriesOf, noTotals, type Totals } from '../listing.ts';
import type { ImportOutcome } from './index.ts';
import type { SqliteEdges } from './sqlite-edges.ts';
import type { SqlitePairs } from './sqlite-pairs.ts';

/** Brings pairs in on SQLite; inside a transaction. */
export class SqliteImport {
  readonly #pairs: SqlitePairs;
  readonly #edges: SqliteEdges;

  constructor(parts: { pairs: SqlitePairs; edges: SqliteEdges }) {
    this.#pairs = parts.pairs;
    this.#edges = parts.edges;
  }

  /** Stores pairs and their rows, and gives what is to be added to each user's totals. */
  add(pairs: readonly LivePair[]): { outcomes: ImportOutcome[]; totals: Map<string, Totals> } {
    const totals = new Map<string, Totals>();
    return { outcomes: pairs.map((pair) => this.#add(pair, totals)), totals };
  }

  #add(pair: LivePair, totals: Map<string, Totals>): ImportOutcome {
    if (!this.#pairs.add(pair)) {
      const there = this.#pairs.find(pair);
      if (!there) return 'id-taken';
      return there.connectionId === pair.connectionId ? there : 'pair-taken';
    }
    for (const entry of entriesOf(pair)) {
      this.#edges.add(entry);
      const sum = totals.get(entry.ownerId) ?? { ...noTotals };
      sum[entry.list] += 1;
      totals.set(entry.ownerId, sum);
    }
    return 'stored';
  }
}
