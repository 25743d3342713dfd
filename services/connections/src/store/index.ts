import type { ConnectionSettings, EventEnvelope } from '@kith/contracts';
import { eraseProject, UserSettings } from '@kith/service';
import { type Documents, type Outbox, type Replies, replyCollection, type StoreConfig } from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { type Entry, type ListName, listRange, noTotals, type Totals } from '../listing.ts';
import { type LivePair, type Pair, strangers } from '../pair.ts';
import { changeOf } from './change.ts';
import { declared, declines, entries, pairs, profiles, settings, totals } from './collections.ts';
import { Erasure } from './erasure.ts';
import { pairId, rangeOf, totalsId } from './keys.ts';
import { Profiles } from './profiles.ts';
import { type Decline, declineOf, entryOf, pairOf, readOf } from './stored.ts';

/** Which rows of a list to read: those after the first `skip` rows, or those after the row with the place `after`. */
export interface ListRange {
  projectId: string;
  ownerId: string;
  list: ListName;
  from: { skip: number } | { after: string };
  /** The maximum number of rows to read. */
  limit: number;
  /** The keys of rows that the result and the total leave out. */
  without?: readonly string[];
}

/** Some rows of a list, in the list's order. `total` counts the rows of all pages. */
export interface ListPage {
  entries: Entry[];
  total: number;
}

/** The outcome for an imported pair. If the connection exists already, the outcome is the stored pair. */
export type ImportOutcome = 'stored' | 'pair-taken' | 'id-taken' | 'deleted' | Pair;

/** The store of connections. Each change of a pair also changes the lists and totals. */
export class ConnectionStore {
  /** The events of pairs. */
  readonly outbox: Outbox;
  /** The stored answers to requests with an idempotency key. */
  readonly replies: Replies | undefined;
  readonly profiles: Profiles;
  readonly erasure: Erasure;
  readonly settings: UserSettings<ConnectionSettings>;
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
    this.outbox = documents.outbox;
    this.replies = documents.replies;
    this.profiles = new Profiles(documents);
    this.erasure = new Erasure(documents);
    this.settings = new UserSettings(documents, settings, {
      requestsFrom: 'everyone',
      showsConnections: true,
    });
  }

  /** Returns the pair of two users. If nothing is stored, the pair has state `none`. */
  async pairOf(projectId: string, one: string, other: string): Promise<Pair> {
    const [pair] = await this.pairsOf([{ projectId, one, other }]);
    return pair as Pair;
  }

  /** The pairs for several combinations of two users, in the same order. Each pair is as `pairOf` returns it. */
  async pairsOf(of: readonly { projectId: string; one: string; other: string }[]): Promise<Pair[]> {
    const none = of.map(({ projectId, one, other }) => strangers(projectId, one, other));
    const found = await this.#documents.get(pairs, none.map(pairId));
    return none.map((pair) => {
      const read = found.get(pairId(pair));
      return read ? pairOf(read) : pair;
    });
  }

  /** The pair whose current connection or request has this id. */
  async pairByConnection(projectId: string, connectionId: string): Promise<Pair | null> {
    const key = `${projectId}|${connectionId}`;
    const [found] = (await this.#documents.by(pairs, 'connection', [key])).get(key) ?? [];
    return found ? pairOf(found) : null;
  }

  /** Makes sure that later reads of lists and totals show the change that led to this state of the pair. */
  async settle(pair: Pair): Promise<void> {
    const read = readOf(pair);
    if (read) await this.#documents.settle(pairs, read);
  }

  /**
   * Stores a changed pair with the event of the change, if there is one. Also stores the changes of lists and totals. Returns
   * `false` if the pair has changed since `before` was read.
   */
  async change(before: Pair, after: Pair, event?: EventEnvelope): Promise<boolean> {
    const change = { ...changeOf(before, after), events: event ? [event] : [] };
    const [outcome] = await this.#documents.change([change]);
    return outcome === 'made';
  }

  /**
   * Stores pairs of another backend, one after the other, with their lists and totals but without events. Returns the outcome
   * for each pair, in the same order. Pairs that are already stored stay as they are. If several pairs with the same connection
   * id come at the same time, only one of them is stored.
   */
  async import(projectId: string, given: readonly LivePair[]): Promise<ImportOutcome[]> {
    const outcomes = await this.#documents.change(
      given.map((pair) => changeOf(strangers(projectId, pair.lower, pair.higher), pair)),
    );
    const ids = given.filter((_, at) => outcomes[at] === 'there').map(pairId);
    // If a process has died while it stored a pair, the pair may lack its rows. With `settled`, the rows are stored before the
    // pair is returned.
    const there = await this.#documents.get(pairs, ids, { settled: true });
    return given.map((pair, at) => {
      if (outcomes[at] === 'made') return 'stored';
      if (outcomes[at] !== 'there') return 'id-taken';
      const stored = there.get(pairId(pair));
      // The stored pair has no request or connection. Either the users were connected before, or one of them has blocked the
      // other.
      if (stored && !stored.doc.request) return 'deleted';
      return stored?.doc.request?.id === pair.connectionId ? pairOf(stored) : 'pair-taken';
    });
  }

  /**
   * The stored pairs of a user with the given other users. With `settled`, first completes the unfinished changes of these
   * pairs, so that totals read afterwards include them.
   */
  async pairsWith(
    projectId: string,
    userId: string,
    otherIds: readonly string[],
    how: { settled?: boolean } = {},
  ): Promise<Pair[]> {
    const ids = otherIds.map((otherId) => pairId(strangers(projectId, userId, otherId)));
    return [...(await this.#documents.get(pairs, ids, how)).values()].map(pairOf);
  }

  /**
   * Returns pairs of all projects in which one user blocks the other. The pairs are sorted by the key
   * `<project>|<lower>|<higher>`. The result begins with the first pair after the key `after`.
   */
  async blocked(after: string, limit: number): Promise<Pair[]> {
    const found = await this.#documents.range(pairs, { above: after, below: '~', limit }, 'blocked');
    return found.map(pairOf);
  }

  /**
   * Returns declined requests of a user, sorted by the other user's id. The result begins with the first request after the id
   * `after`.
   */
  async declined(
    of: { projectId: string; userId: string },
    { after, limit }: { after: string; limit: number },
  ): Promise<Decline[]> {
    const { above, below } = rangeOf(of);
    const found = await this.#documents.range(declines, { above: above + after, below, limit });
    return found.map(declineOf);
  }

  async list({ from, limit, without = [], ...of }: ListRange): Promise<ListPage> {
    const keys = listRange(of);
    const start = 'after' in from ? { above: keys.from + from.after } : { above: keys.from, skip: from.skip };
    const { rows, total } = await this.#documents.page(
      entries,
      { ...start, below: keys.to, limit, except: without },
      { in: totals, id: totalsId(of.projectId, of.ownerId), field: of.list },
    );
    return { entries: rows.map(entryOf), total };
  }

  /** How many rows each list of a user has. */
  async totals(projectId: string, userId: string): Promise<Totals> {
    const id = totalsId(projectId, userId);
    return (await this.#documents.sums(totals, [id])).get(id) ?? noTotals;
  }

  /** Completes the changes that processes left unfinished when they died, and removes data that is no longer needed. */
  sweep(): Promise<void> {
    return this.#documents.sweep();
  }

  /**
   * Erases what is left of a deleted project. Returns `false` while data of the project's users is left. This data is erased
   * with the users.
   */
  eraseProject(projectId: string): Promise<boolean> {
    return eraseProject(this.#documents, projectId, {
      awaited: [pairs, entries, declines, settings],
      cleared: [profiles, totals, replyCollection],
    });
  }

  /** Rejects when the database cannot be used. */
  check(): Promise<void> {
    return this.#documents.check();
  }

  close(): Promise<void> {
    return this.#documents.close();
  }
}

/** Opens the store and brings its schema up to date. Throws `StartError`. */
export async function openStore(config: StoreConfig): Promise<ConnectionStore> {
  return new ConnectionStore(await openDocuments(config, declared));
}
