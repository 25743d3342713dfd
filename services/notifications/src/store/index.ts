import type { EventEnvelope } from '@kith/contracts';
import { eraseProject, ProfileCopy, profileCollection, UserSettings } from '@kith/service';
import {
  type Documents,
  type Outbox,
  type Replies,
  replyCollection,
  type StoreConfig,
  type Stored,
  timeKey,
} from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { type Entry, emptyFeed, type Feed, type Owner } from '../feed.ts';
import { declared, entries, feeds, type StoredSettings, settings, withdrawn } from './collections.ts';
import { entryOf, storedOf } from './entry.ts';
import { Erasure } from './erasure.ts';
import { endOf, feedKey, placeOf } from './place.ts';

/** A feed as it was read; all its notifications up to `seq` are there to be read. */
export interface StoredFeed extends Feed {
  owner: Owner;
  /** Absent where nothing is stored yet. */
  read?: Stored<Feed> | undefined;
}

/** What becomes of a feed in one change. */
export interface FeedChange {
  feed: Feed;
  /** Entries that are new or have changed. */
  put?: readonly Entry[];
  remove?: readonly Entry[];
  event?: EventEnvelope;
}

/** What notifications keeps: a user's feed decides, its entries follow. */
export class NotificationStore {
  readonly outbox: Outbox;
  /** Answers to requests with a key. */
  readonly replies: Replies | undefined;
  /** The own copy of public users. */
  readonly profiles: ProfileCopy;
  readonly erasure: Erasure;
  readonly settings: UserSettings<StoredSettings>;
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
    this.outbox = documents.outbox;
    this.replies = documents.replies;
    this.profiles = new ProfileCopy(documents);
    this.erasure = new Erasure(documents);
    this.settings = new UserSettings(documents, settings, { off: [] });
  }

  /** A user's feed; an empty one where nothing is stored. */
  async feed(owner: Owner): Promise<StoredFeed> {
    const id = feedKey(owner);
    const read = (await this.#documents.get(feeds, [id], { settled: true })).get(id);
    return { ...(read?.doc ?? emptyFeed), owner, read };
  }

  /** Stores a change whole, or gives `false` when the feed has gone on since it was read. */
  async change({ owner, read }: StoredFeed, change: FeedChange): Promise<boolean> {
    const { seq, total, unread, expiredTo, marks, streams } = change.feed;
    const row = (entry: Entry, put: ReturnType<typeof storedOf> | null) => ({
      ...{ in: entries, id: placeOf(owner, entry.seq), put },
    });
    const outcomes = await this.#documents.change([
      {
        in: feeds,
        target: read ?? feedKey(owner),
        set: { seq, total, unread, expiredTo, marks, streams },
        rows: [
          ...(change.remove ?? []).map((entry) => row(entry, null)),
          ...(change.put ?? []).map((entry) => row(entry, storedOf(entry))),
        ],
        events: change.event ? [change.event] : [],
      },
    ]);
    return outcomes[0] === 'made';
  }

  /** The notifications of this owner's that have these ids; anyone else's are none. */
  async find(owner: Owner, ids: readonly string[]): Promise<Entry[]> {
    const keys = ids.map((id) => `${feedKey(owner)}|${id}`);
    return [...(await this.#documents.by(entries, 'id', keys)).values()].flat().map(entryOf);
  }

  /** The notification of a connection request. */
  async requestOf(owner: Owner, connectionId: string): Promise<Entry | null> {
    const key = `${feedKey(owner)}|${connectionId}`;
    const [found] = (await this.#documents.by(entries, 'requestOf', [key])).get(key) ?? [];
    return found ? entryOf(found) : null;
  }

  /** Entries with a sequence of at most `upTo`, newest first. */
  async newest(owner: Owner, range: { upTo: number; skip: number; limit: number }): Promise<Entry[]> {
    const { upTo, skip, limit } = range;
    const places = { above: placeOf(owner, upTo + 1), below: endOf(owner) };
    return (await this.#documents.range(entries, { ...places, skip, limit })).map(entryOf);
  }

  /** Entries that follow `after`, up to `upTo`, oldest first. */
  async following(owner: Owner, range: { after: number; upTo: number; limit: number }): Promise<Entry[]> {
    const { after, upTo, limit } = range;
    const places = { above: placeOf(owner, upTo + 1), below: placeOf(owner, after) };
    return (await this.#documents.range(entries, { ...places, limit, backwards: true })).map(entryOf);
  }

  /** Some notifications that are not kept beyond `now` (Unix ms), the oldest first. */
  async expired(now: number, limit: number): Promise<Entry[]> {
    const range = { above: '', below: timeKey(now), limit };
    return (await this.#documents.range(entries, range, 'keepUntil')).map(entryOf);
  }

  /** Remembers until `until` (Unix ms) that a connection's request is none any more. */
  async withdraw(projectId: string, connectionId: string, until: number): Promise<void> {
    const id = `${projectId}|${connectionId}`;
    await this.#documents.keep(withdrawn, [{ id, doc: { until }, epoch: 0, version: 1 }]);
  }

  async isWithdrawn(projectId: string, connectionId: string): Promise<boolean> {
    const id = `${projectId}|${connectionId}`;
    return (await this.#documents.get(withdrawn, [id])).has(id);
  }

  /** Puts right what processes left behind when they died, and forgets what may be forgotten. */
  sweep(): Promise<void> {
    return this.#documents.sweep();
  }

  /** Erases what is left of a deleted project; `false` while each of its feeds has not gone with its users. */
  eraseProject(projectId: string): Promise<boolean> {
    return eraseProject(this.#documents, projectId, {
      awaited: [feeds, entries, settings],
      cleared: [withdrawn, profileCollection, replyCollection],
    });
  }

  /** Rejects when the store cannot be used. */
  check(): Promise<void> {
    return this.#documents.check();
  }

  close(): Promise<void> {
    return this.#documents.close();
  }
}

/** Opens the store of the configured kind and brings its schema up to date. Throws `StartError`. */
export async function openStore(config: StoreConfig): Promise<NotificationStore> {
  return new NotificationStore(await openDocuments(config, declared));
}
