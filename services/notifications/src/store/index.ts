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

/** A feed as it was read. The entries of all its notifications up to `seq` are already stored. */
export interface StoredFeed extends Feed {
  owner: Owner;
  /** The stored document. Absent if nothing is stored yet. */
  read?: Stored<Feed> | undefined;
}

/** One change of a feed. */
export interface FeedChange {
  feed: Feed;
  /** Entries that are new or have changed. */
  put?: readonly Entry[];
  remove?: readonly Entry[];
  event?: EventEnvelope;
}

/** The store of notifications. Each change of a user's entries is stored together with a change of the user's feed. */
export class NotificationStore {
  readonly outbox: Outbox;
  /** The stored answers to requests with an idempotency key. */
  readonly replies: Replies | undefined;
  /** This service's copy of the users' public profiles. */
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

  /** A user's feed; empty if nothing is stored. */
  async feed(owner: Owner): Promise<StoredFeed> {
    const id = feedKey(owner);
    const read = (await this.#documents.get(feeds, [id], { settled: true })).get(id);
    return { ...(read?.doc ?? emptyFeed), owner, read };
  }

  /**
   * Stores all parts of a change together. If the feed has changed since it was read, stores nothing and resolves to `false`.
   */
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

  /** The owner's notifications with these ids. An id of somebody else's notification finds nothing. */
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

  /** Entries with a sequence above `after` and at most `upTo`, oldest first. */
  async following(owner: Owner, range: { after: number; upTo: number; limit: number }): Promise<Entry[]> {
    const { after, upTo, limit } = range;
    const places = { above: placeOf(owner, upTo + 1), below: placeOf(owner, after) };
    return (await this.#documents.range(entries, { ...places, limit, backwards: true })).map(entryOf);
  }

  /** Some notifications whose `keepUntil` is before `now` (Unix ms). The earliest `keepUntil` comes first. */
  async expired(now: number, limit: number): Promise<Entry[]> {
    const range = { above: '', below: timeKey(now), limit };
    return (await this.#documents.range(entries, range, 'keepUntil')).map(entryOf);
  }

  /** Marks a connection or a notification as `withdrawn`, until `until` (Unix ms). */
  async withdraw(projectId: string, id: string, until: number): Promise<void> {
    await this.#documents.keep(withdrawn, [
      { id: `${projectId}|${id}`, doc: { until }, epoch: 0, version: 1 },
    ]);
  }

  /** Whether any of these connections or notifications is `withdrawn`. */
  async isWithdrawn(projectId: string, ids: readonly string[]): Promise<boolean> {
    const keys = ids.map((id) => `${projectId}|${id}`);
    return (await this.#documents.get(withdrawn, keys)).size > 0;
  }

  /** Completes the changes that processes left unfinished when they died, and removes what is no longer needed. */
  sweep(): Promise<void> {
    return this.#documents.sweep();
  }

  /**
   * Erases what is left of a deleted project. Resolves to `false` as long as feeds, notifications or settings of its users are
   * left.
   */
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
