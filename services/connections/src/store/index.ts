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
import { type Decline, declineOf, entryOf, pairOf } from './stored.ts';

/** Which rows of a list are asked for: those after `skip` others, or after the row at a place. */
export interface ListRange {
  projectId: string;
  ownerId: string;
  list: ListName;
  from: { skip: number } | { after: string };
  /** At most as many rows. */
  limit: number;
  /** Keys of rows of this list that are passed over, and not counted in the total. */
  without?: readonly string[];
}

/** Rows of a list, in its order; the total counts all that can be listed, on any page. */
export interface ListPage {
  entries: Entry[];
  total: number;
}

/** What became of a pair that was to be imported; a pair is what is stored where its connection is there already. */
export type ImportOutcome = 'stored' | 'pair-taken' | 'id-taken' | Pair;

/** What connections keeps: a pair decides, lists and totals follow. */
export class ConnectionStore {
  /** The events of pairs. */
  readonly outbox: Outbox;
  /** Answers to requests with a key. */
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

  /** Where two users stand; state `none` where nothing is stored. */
  async pairOf(projectId: string, one: string, other: string): Promise<Pair> {
    const none = strangers(projectId, one, other);
    const id = pairId(none);
    const found = (await this.#documents.get(pairs, [id])).get(id);
    return found ? pairOf(found) : none;
  }

  /** The pair whose present life has this id. */
  async pairByConnection(projectId: string, connectionId: string): Promise<Pair | null> {
    const key = `${projectId}|${connectionId}`;
    const [found] = (await this.#documents.by(pairs, 'connection', [key])).get(key) ?? [];
    return found ? pairOf(found) : null;
  }

  /**
   * Stores a pair with the event of its change, if it tells one, and what follows of it in lists and totals. `false` when the
   * pair has gone on since `before` was read.
   */
  async change(before: Pair, after: Pair, event?: EventEnvelope): Promise<boolean> {
    const change = { ...changeOf(before, after), events: event ? [event] : [] };
    const [outcome] = await this.#documents.change([change]);
    return outcome === 'made';
  }

  /**
   * Stores pairs of another backend, one after the other, with what follows of them in lists and totals, and without
   * events. Tells of each, in their order, what became of it; what is stored already stays as it is. Of those that come
   * at once with one connection's id, one gets it.
   */
  async import(projectId: string, given: readonly LivePair[]): Promise<ImportOutcome[]> {
    const outcomes = await this.#documents.change(
      given.map((pair) => changeOf(strangers(projectId, pair.lower, pair.higher), pair)),
    );
    const ids = given.filter((_, at) => outcomes[at] === 'there').map(pairId);
    // Perhaps of a process that died: nobody is to be told that it is there before all of it is.
    const there = await this.#documents.get(pairs, ids, { settled: true });
    return given.map((pair, at) => {
      if (outcomes[at] === 'made') return 'stored';
      if (outcomes[at] !== 'there') return 'id-taken';
      const stored = there.get(pairId(pair));
      return stored?.doc.request?.id === pair.connectionId ? pairOf(stored) : 'pair-taken';
    });
  }

  /** The pairs of a user and each of these others that are stored. */
  async pairsWith(projectId: string, userId: string, otherIds: readonly string[]): Promise<Pair[]> {
    const ids = otherIds.map((otherId) => pairId(strangers(projectId, userId, otherId)));
    return [...(await this.#documents.get(pairs, ids)).values()].map(pairOf);
  }

  /** Pairs of all projects in which one blocks the other, by `<project>|<lower>|<higher>`, after that of a pair. */
  async blocked(after: string, limit: number): Promise<Pair[]> {
    const found = await this.#documents.range(pairs, { above: after, below: '~', limit }, 'blocked');
    return found.map(pairOf);
  }

  /** Declined requests of a user, by the other user's id, after that of one. */
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

  /** Puts right what processes left behind when they died, and forgets what may be forgotten. */
  sweep(): Promise<void> {
    return this.#documents.sweep();
  }

  /** Erases what is left of a deleted project; `false` while each of its pairs has not gone with its users. */
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
