import { setTimeout } from 'node:timers/promises';
import { derivedId } from '@kith/base';
import {
  type EventEnvelope,
  type EventOf,
  sessionRevoked,
  userCreated,
  userDeleted,
  userUpdated,
} from '@kith/contracts';
import { type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import { eraseAccount } from './erase-account.ts';
import { revokeSession } from './sessions.ts';
import { goneUserEvent, userEvent } from './user-events.ts';

const pageSize = 500;

/**
 * Reads the events from before a restore, to find the changes that the restore from a backup has undone (docs/adr/0028). If a
 * user was deleted after the backup, deletes the user again. If a session was revoked after the backup, revokes the session
 * again. If a user was created after the backup, the restored store does not have this user. In this case, tells the other
 * services to forget the user.
 */
export const usersBeforeRestore: EventSubscription<AppContext> = subscription({
  durable: 'identity-users',
  events: [userCreated, userDeleted, sessionRevoked],
  async apply(event: EventEnvelope, app: AppContext) {
    const { projectId, aggregate } = event;
    if ((aggregate.epoch ?? 0) >= app.epoch) return;
    if (event.type === sessionRevoked.type) return revokeAgain(app, event as EventOf<typeof sessionRevoked>);
    const { id: userId } = aggregate;
    if (event.type === userDeleted.type) await eraseAccount(app, { projectId, userId });
    else if (!(await app.store.users.account(projectId, userId))) await tellLost(app, { projectId, userId });
  },
});

async function revokeAgain(
  app: AppContext,
  { projectId, data }: EventOf<typeof sessionRevoked>,
): Promise<void> {
  const session = await app.store.sessions.find(projectId, data.userId, data.sessionId);
  if (session) await revokeSession(app, session, data.reason);
}

async function tellLost(
  app: AppContext,
  { projectId, userId }: { projectId: string; userId: string },
): Promise<void> {
  const id = derivedId('lost', `${app.epoch}`, projectId, userId);
  await app.store.outbox.restate([{ ...goneUserEvent({ projectId, userId }), id }]);
  app.relay.kick();
}

/** The maximum time to wait until the deletions from before the restore are repeated, in ms. */
const deletionsMs = 60_000;

/**
 * Publishes every user's present state again, because other services' copies may hold changes that the restore has undone. Then
 * waits until all users who were deleted after the backup are deleted again. Idempotent.
 */
export async function takeUpRestore(app: AppContext): Promise<void> {
  await restateUsers(app);
  const until = Date.now() + deletionsMs;
  while (Date.now() < until) {
    // Another replica that starts after the restore may have removed the consumer, which is then made again.
    const left = await app.bus.backlog(usersBeforeRestore.durable).catch(() => undefined);
    if (left?.pending === 0) return;
    await setTimeout(50);
  }
}

async function restateUsers(app: AppContext): Promise<void> {
  for (let after = ''; ; ) {
    const users = await app.store.people.page(after, pageSize);
    const events = users.map((user) => {
      const id = derivedId('restated', String(app.epoch), user.projectId, user.id);
      return { ...userEvent(userUpdated, user, null), id };
    });
    await app.store.outbox.restate(events);
    app.relay.kick();
    const last = users.at(-1);
    if (!last || users.length < pageSize) return;
    after = `${last.projectId}|${last.id}`;
  }
}
