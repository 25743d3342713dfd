import type { EventEnvelope } from '@kith/contracts';
import type { Documents } from '@kith/store';
import { userEvents } from '../user-events.ts';
import { endedIds } from '../user-ids.ts';
import { mailings } from './collections/mails.ts';
import { deletedUsers, endedUsers, erasedExternals, seen, suspensions, users } from './collections/users.ts';
import { everything, lastIn, projectIn, userKey, within } from './keys-of.ts';
import type { User } from './records.ts';
import { changeUser, dateOf } from './user-document.ts';

/** A deleted user whose erasure is not finished. */
export interface DeletedUser {
  projectId: string;
  userId: string;
  /** The `seq` of the user's last event. */
  seq: number;
  deletedAt: Date;
}

/**
 * How long the id of an ended account stays reserved, in ms. By the end of this time, all events of the account (7 days) and
 * all its marks (8 days) are gone.
 */
const keepEndedMs = 9 * 24 * 3600 * 1000;

/** As in `Mailings`: no user ever has so many mails, so one read returns all of them. */
const mostMailings = 1_000;

/** Ends accounts: deletes the user immediately, and keeps a mark in `deletedUsers` until the user's other data is erased. */
export class Erasure {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Deletes a user and stores the event. If the stored `rev` differs from the given `rev`, changes nothing and returns `stale`.
   * After this, the user is not found any more, and its names are free. The caller revokes the user's sessions afterwards.
   */
  async remove(user: User, event: EventEnvelope): Promise<'stored' | 'stale'> {
    const { seq } = event.aggregate;
    const mark = { seq, deletedAt: Date.parse(event.occurredAt) };
    const outcome = await changeUser(this.#documents, user, async () => {
      // Reserves the ids of the account before the user is deleted. As long as the user exists, this has no effect.
      await this.#noteEnd(user.projectId, endedIds(user));
      const id = userKey(user.projectId, user.id);
      const mails = await this.#documents.range(mailings, { ...within(id), limit: mostMailings });
      return {
        set: null,
        rows: [
          { in: deletedUsers, id, put: mark },
          { in: suspensions, id, put: null },
          ...mails.map((one) => ({ in: mailings, id: one.id, put: null })),
        ],
        events: [event],
      };
    });
    return outcome === 'stored' ? 'stored' : 'stale';
  }

  /** Users whose erasure is not finished, earliest deletion first. */
  async unfinished(limit: number): Promise<DeletedUser[]> {
    const found = await this.#documents.range(deletedUsers, { ...everything, limit }, 'deletedAt');
    return found.map(({ id, doc: { seq, deletedAt } }) => ({
      ...{ projectId: projectIn(id), userId: lastIn(id), seq, deletedAt: new Date(deletedAt) },
    }));
  }

  /** Whether a project has users whose erasure is not finished. */
  async isUnder(projectId: string): Promise<boolean> {
    // On MongoDB, the row in `deletedUsers` is written only after the user's document is deleted. So `settle` first completes
    // the changes of the project's users.
    await this.#documents.settle(users, within(projectId));
    return (await this.#documents.range(deletedUsers, { ...within(projectId), limit: 1 })).length > 0;
  }

  /**
   * If the user's last event is published and all earlier events are gone, erases the mark and returns `true`; otherwise
   * returns `false`. Afterwards, only the id of the user is kept, for `keepEndedMs`. During this time, other services may still
   * hold marks and events of the user, so no import may reuse the id.
   */
  async finish({ projectId, userId, seq }: DeletedUser): Promise<boolean> {
    const { outbox } = this.#documents;
    const { range, last } = userEvents({ projectId, userId, seq });
    const waiting = await Promise.all([
      outbox.holds({ from: range.from, to: last }),
      outbox.holds({ from: last, to: range.to }),
      outbox.holds(range, { unpublished: true }),
    ]);
    if (waiting.includes(true)) return false;
    const id = userKey(projectId, userId);
    await this.#noteEnd(projectId, [userId]);
    // The last event may be kept for longer than the id is reserved, because it is published again if the broker loses it.
    await outbox.noteEnd(last);
    await this.#documents.clearIds(seen, [id]);
    await this.#documents.clear(mailings, { ...within(id), limit: mostMailings });
    if (!(await this.#documents.erase(users, id))) return false;
    await this.#documents.clearIds(deletedUsers, [id]);
    return true;
  }

  /** Records for a while that an external user was erased. `id` is the `userKey` of a hash of the foreign id. */
  async noteExternal(id: string, { at, until }: { at: Date; until: Date }): Promise<void> {
    const doc = { at: at.getTime(), until: until.getTime() };
    await this.#documents.keep(erasedExternals, [{ id, doc, epoch: 0, version: doc.at }]);
  }

  /** When an external user was last erased; null if no erasure of this user is noted, or if the note has expired. */
  async externalErasedAt(id: string): Promise<Date | null> {
    return dateOf((await this.#documents.get(erasedExternals, [id])).get(id)?.doc.at ?? null);
  }

  /**
   * Returns those of the given users who do not exist. No import may use their ids until `keepEndedMs` has passed, because
   * services may erase everything that they store under these ids. Users who exist stay as they are.
   */
  async reserveGone(projectId: string, userIds: readonly string[]): Promise<string[]> {
    const gone = await this.#missing(projectId, userIds);
    await this.#noteEnd(projectId, gone);
    // Imports look for these notes before and after they store a user. So if an import has stored such a user meanwhile, the
    // user is either found here, or removed again by the import.
    return this.#missing(projectId, gone);
  }

  async #missing(projectId: string, userIds: readonly string[]): Promise<string[]> {
    const keyOf = (userId: string) => userKey(projectId, userId);
    const found = await this.#documents.get(users, userIds.map(keyOf));
    return userIds.filter((userId) => !found.has(keyOf(userId)));
  }

  async #noteEnd(projectId: string, ids: readonly string[]): Promise<void> {
    const until = Date.now() + keepEndedMs;
    const marks = ids.map((id) => ({ id: userKey(projectId, id), doc: { until }, epoch: 0, version: until }));
    await this.#documents.keep(endedUsers, marks);
  }
}
