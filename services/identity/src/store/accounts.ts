import type { EventEnvelope } from '@kith/contracts';
import { type Documents, timeKey } from '@kith/store';
import { suspensions, users } from './collections/users.ts';
import { everything, lastIn, projectIn, suspendedPlace, userKey } from './keys-of.ts';
import { endedMailingRows } from './mailing-row.ts';
import type { EndingReason, Suspension, User } from './records.ts';
import { changeUser, dateOf, userOf } from './user-document.ts';

/** The latest change that has ended sessions of a user. Some of these sessions may not be revoked yet. */
export interface Ending {
  projectId: string;
  userId: string;
  epoch: number;
  reason: EndingReason;
}

/**
 * The parts of a user that decide whether the user may sign in and which sessions are valid. A change that ends sessions, such
 * as a suspension, is one write to the user. From this write on, these sessions get no new tokens. Afterwards, each of them is
 * also marked as revoked, so that gateways refuse its access tokens.
 */
export class Accounts {
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /**
   * Stores `passwordHash`, `isActive`, `suspendedAt`, `sessionEpoch`, `keptSession`, `updatedAt`, `rev` and `seq`, and the
   * event if there is one. `rev` must be the stored `rev` plus one. Otherwise stores nothing and returns `stale`. If `ending`
   * is not null, `endings` returns the user until `ended` is called, and the mails whose tokens end with the sessions are
   * removed. `suspension`, if given, replaces the stored reason and end of the suspension.
   */
  async update(
    user: User,
    {
      event,
      ending,
      suspension,
    }: { event: EventEnvelope | null; ending: EndingReason | null; suspension?: Suspension | null },
  ): Promise<'stored' | 'stale'> {
    const { passwordHash, isActive, sessionEpoch, keptSession, rev, seq } = user;
    const account = { passwordHash, isActive, sessionEpoch, keptSession, rev, seq };
    const suspendedAt = user.suspendedAt?.getTime() ?? null;
    const updatedAt = user.updatedAt.getTime();
    const outcome = await changeUser(this.#documents, { ...user, rev: rev - 1 }, (doc) => ({
      set: { ...doc, ...account, suspendedAt, updatedAt, ending: ending ?? doc.ending },
      events: event ? [event] : [],
      rows: [
        ...(suspension === undefined ? [] : [suspensionRow(user, suspension)]),
        ...(ending ? endedMailingRows(user) : []),
      ],
    }));
    return outcome === 'stored' ? 'stored' : 'stale';
  }

  /**
   * Raises a user's `rev`, and changes nothing else. So changes of this user that were prepared before are refused, and their
   * requests read the user again.
   */
  async touch({ projectId, userId }: Pick<Ending, 'projectId' | 'userId'>): Promise<void> {
    await changeUser(this.#documents, { projectId, id: userId }, (doc) => ({
      set: { ...doc, rev: doc.rev + 1 },
    }));
  }

  async endings(limit: number): Promise<Ending[]> {
    const found = await this.#documents.range(users, { ...everything, limit }, 'ending');
    return found.map((one) => {
      const { projectId, id: userId, sessionEpoch: epoch } = userOf(one);
      return { projectId, userId, epoch, reason: one.doc.ending ?? 'ended' };
    });
  }

  /**
   * Records that all sessions which a change of the user has ended are now revoked. `epoch` is the user's `sessionEpoch` after
   * this change. If a newer change has ended the user's sessions again, does nothing.
   */
  async ended({ projectId, userId, epoch }: Ending): Promise<void> {
    await changeUser(this.#documents, { projectId, id: userId }, (doc) =>
      doc.sessionEpoch === epoch && doc.ending !== null ? { set: { ...doc, ending: null } } : null,
    );
  }

  /** The end and the reason that operators have given for each user's suspension, by user id. */
  async suspensions(some: readonly User[]): Promise<Map<string, Suspension>> {
    const ids = some.filter(({ isActive }) => !isActive).map(({ projectId, id }) => userKey(projectId, id));
    if (ids.length === 0) return new Map();
    // Completes the last changes of the users first (`settled`). Otherwise, this could return a suspension that was just
    // replaced, and the user could be restored at the end of the replaced suspension.
    await this.#documents.get(users, ids, { settled: true });
    const found = await this.#documents.get(suspensions, ids);
    return new Map(
      [...found.values()].map(({ id, doc: { until, reason } }) => [
        lastIn(id),
        { until: dateOf(until), reason },
      ]),
    );
  }

  /** Suspended users whose suspension ends before `at`, earliest end first. */
  async suspendedUntil(at: Date, limit: number): Promise<{ projectId: string; userId: string }[]> {
    const range = { ...everything, below: timeKey(at.getTime()), limit };
    const found = await this.#documents.range(suspensions, range, 'until');
    return found.map(({ id }) => ({ projectId: projectIn(id), userId: lastIn(id) }));
  }

  /** Suspended users after a `suspendedPlace`, in the order of these places. */
  async suspended(
    after: string,
    limit: number,
  ): Promise<{ userId: string; at: Date; until: Date | null; place: string }[]> {
    const range = { ...everything, above: after, limit };
    const some = (await this.#documents.range(users, range, 'suspended')).map(userOf);
    const said = await this.suspensions(some);
    return some.map(({ projectId, id: userId, suspendedAt }) => {
      const at = suspendedAt ?? new Date(0);
      const place = suspendedPlace(at, userKey(projectId, userId));
      return { userId, at, until: said.get(userId)?.until ?? null, place };
    });
  }
}

function suspensionRow({ projectId, id }: User, suspension: Suspension | null) {
  const { until = null, reason = null } = suspension ?? {};
  const isEmpty = until === null && reason === null;
  const put = isEmpty ? null : { until: until?.getTime() ?? null, reason };
  return { in: suspensions, id: userKey(projectId, id), put };
}
