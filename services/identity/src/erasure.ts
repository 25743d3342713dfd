import { setImmediate as nextTurn } from 'node:timers/promises';
import { userDeleted } from '@kith/contracts';
import { auditEventsOf, eraseEvents } from '@kith/service';
import type { AppContext } from './app.ts';
import { auditHash } from './audit-log.ts';
import { KnownSince } from './known-since.ts';
import { endSessionsOf, tokensEnd } from './sessions.ts';
import { type DeletedUser, userKey } from './store/index.ts';
import { userEvents } from './user-events.ts';

export interface ErasureTimes {
  /** How often to look for unfinished deletions. */
  everyMs: number;
  /**
   * A process removes the mark of a deleted user only when it has known of the deletion for this time, in ms. By then, all
   * requests that found the user before the deletion are over.
   */
  settleMs: number;
}

export const erasureTimes: ErasureTimes = { everyMs: 10_000, settleMs: 60_000 };
/** How many users one sweep works on. */
const batch = 1_000;
/**
 * How many deleted users one sweep reads. A process counts `settleMs` from the sweep that first reads the user. The number is
 * high because all users of a deleted project wait for `settleMs` at the same time.
 */
const most = 10_000;

/**
 * Finishes deletions. Revokes the user's sessions that are still open. They may be open because a process died before it
 * revoked them, or because they were opened during the deletion. Erases everything else that identity stores of the user.
 * Erases the earlier events of the user, here and on the bus. Idempotent; a sweep calls it regularly. `known` holds the
 * deletions that earlier sweeps of this process have found.
 */
export async function finishErasures(
  app: AppContext,
  settleMs: number,
  known: KnownSince = new KnownSince(),
  isStopped = () => false,
): Promise<void> {
  const failures: unknown[] = [];
  const keyOf = ({ projectId, userId }: DeletedUser) => userKey(projectId, userId);
  const unfinished = await app.store.erasure.unfinished(most);
  known.note(unfinished.map(keyOf));
  for (const deleted of unfinished.slice(0, batch)) {
    if (isStopped()) return;
    const isSettled = known.isFor(keyOf(deleted), settleMs);
    await finishErasure(app, deleted, isSettled).catch((error) => failures.push(error));
    // In the embedded form, the calls above do not let other work run.
    await nextTurn();
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} users not erased yet`);
}

async function finishErasure(app: AppContext, deleted: DeletedUser, isSettled: boolean): Promise<void> {
  await endSessionsOf(app, deleted, 'deleted');
  await app.store.sessions.forgetUses(deleted.projectId, deleted.userId);
  await app.store.replies?.forget(deleted);
  await app.attempts.forget({ projectId: deleted.projectId, userId: deleted.userId });
  const hasNoFactors = await app.store.factors.forget(deleted);
  await app.store.audits.erase(deleted, auditHash(app.secrets));
  const parts = { bus: app.bus, outbox: app.store.outbox };
  const audited = auditEventsOf(deleted);
  await eraseEvents(parts, audited);
  const { range, last } = userEvents(deleted);
  // The erasure leaves the event `user.deleted` among the dead letters, no matter how old it is. If a service gave up this
  // event, it has not erased the user's data yet and still needs the event.
  await eraseEvents(parts, range, { keep: last, withdraw: ({ type }) => type !== userDeleted.type });
  // An audit event can be erased only after it was published. Until then, the erasure stays unfinished.
  if (!isSettled || !hasNoFactors || (await parts.outbox.holds(audited))) return;
  // Sessions of a suspended user are kept for a long time, so that a refused refresh gets the reason. For a deleted account,
  // this reason is gone, so the account's sessions are kept only for a short time.
  await app.store.sessions.shorten(deleted.projectId, deleted.userId, tokensEnd);
  await app.store.blocks.forget(deleted.projectId, deleted.userId);
  await app.store.erasure.finish(deleted);
}
