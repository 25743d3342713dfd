import type { EventEnvelope } from '@kith/contracts';
import { type Documents, timeKey } from '@kith/store';
import { users } from './collections.ts';
import { everything } from './keys-of.ts';
import type { RevocationReason, User } from './records.ts';
import { changeUser, userOf } from './user-document.ts';

/** Sessions of a user that its last change made outdated, and that may not all be revoked yet. */
export interface Ending {
  projectId: string;
  userId: string;
  epoch: number;
  reason: RevocationReason;
}

/** Maximum number of users suspended within the lifetime of a token. */
const most = 100_000;

/** What of a user concerns signing in. A change that ends sessions is one write; they are revoked after it. */
export class Accounts {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Stores `passwordHash`, `isActive`, `suspendedAt`, `sessionEpoch`, `keptSession`, `updatedAt`, `rev` and `seq`, with
   * the event where there is one, if `rev` is one above the stored one; else it is `stale`. With `ending` the user
   * stays among `endings` until `ended`.
   */
  async update(
    user: User,
    { event, ending }: { event: EventEnvelope | null; ending: RevocationReason | null },
  ): Promise<'stored' | 'stale'> {
    const { passwordHash, isActive, sessionEpoch, keptSession, rev, seq } = user;
    const account = { passwordHash, isActive, sessionEpoch, keptSession, rev, seq };
    const suspendedAt = user.suspendedAt?.getTime() ?? null;
    const updatedAt = user.updatedAt.getTime();
    const outcome = await changeUser(this.#documents, { ...user, rev: rev - 1 }, (doc) => ({
      set: { ...doc, ...account, suspendedAt, updatedAt, ending: ending ?? doc.ending },
      events: event ? [event] : [],
    }));
    return outcome === 'stored' ? 'stored' : 'stale';
  }

  async endings(limit: number): Promise<Ending[]> {
    const found = await this.#documents.range(users, { ...everything, limit }, 'ending');
    return found.map((one) => {
      const { projectId, id: userId, sessionEpoch: epoch } = userOf(one);
      return { projectId, userId, epoch, reason: one.doc.ending ?? 'ended' };
    });
  }

  /** Notes that an ending's sessions are revoked, unless another has come after it. */
  async ended({ projectId, userId, epoch }: Ending): Promise<void> {
    await changeUser(this.#documents, { projectId, id: userId }, (doc) =>
      doc.sessionEpoch === epoch && doc.ending !== null ? { set: { ...doc, ending: null } } : null,
    );
  }

  /** Who was suspended since `since` and still is. */
  async suspendedSince(since: Date): Promise<{ userId: string; at: Date }[]> {
    const range = { ...everything, above: timeKey(since.getTime()), limit: most };
    return (await this.#documents.range(users, range, 'suspended')).map((one) => {
      const { id: userId, suspendedAt } = userOf(one);
      return { userId, at: suspendedAt ?? since };
    });
  }
}
