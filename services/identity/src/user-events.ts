import {
  type EventEnvelope,
  type userCreated,
  userDeleted,
  type userSuspended,
  type userUpdated,
} from '@kith/contracts';
import { makeEvent } from '@kith/service';
import type { User } from './store/records.ts';
import { publicUserOf } from './user-views.ts';

/**
 * The event that reports the creation or the change of a user. `user` is the user after the change, and gives the event its
 * `seq`. The actor is the user. If an operator made the change, the actor is null.
 */
export function userEvent(
  spec: typeof userCreated | typeof userUpdated | typeof userSuspended,
  user: User,
  actorId: string | null = user.id,
): EventEnvelope {
  return makeEvent(spec, {
    projectId: user.projectId,
    actorId,
    aggregate: { type: 'user', id: user.id, seq: user.seq },
    data: publicUserOf(user),
    occurredAt: user.updatedAt,
  });
}

/**
 * The last event of a user, which reports the deletion. It contains only the id, because nothing else about the user may be
 * kept.
 */
export function userDeletedEvent(user: User, at: Date): EventEnvelope {
  return makeEvent(userDeleted, {
    projectId: user.projectId,
    actorId: user.id,
    aggregate: { type: 'user', id: user.id, seq: user.seq + 1 },
    data: { id: user.id },
    occurredAt: at,
  });
}

/**
 * The last event of a user of whom identity knows nothing but the id. Its `occurredAt` is the present, so services apply it
 * without a question. If an event is more than eight days old, they first ask identity whether an import has reused the id
 * (docs/adr/0014).
 */
export function goneUserEvent({ projectId, userId }: { projectId: string; userId: string }): EventEnvelope {
  return makeEvent(userDeleted, {
    projectId,
    actorId: null,
    aggregate: { type: 'user', id: userId, seq: 1 },
    data: { id: userId },
    occurredAt: new Date(),
  });
}

/** The range of keys of a user's events, and the key of the last event. */
export function userEvents(of: { projectId: string; userId: string; seq: number }): {
  range: { from: string; to: string };
  last: string;
} {
  const aggregate = `${of.projectId}|user|${of.userId}`;
  // `}` is the character after `|`. So `<aggregate>}` sorts directly after all keys that begin with `<aggregate>|`, and the
  // range contains exactly these keys.
  return { range: { from: `${aggregate}|`, to: `${aggregate}}` }, last: `${aggregate}|${of.seq}` };
}
