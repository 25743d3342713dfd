import { ApiError } from '@kith/base';
import {
  connectionAccepted,
  connectionDeclined,
  connectionDisconnected,
  connectionRequested,
  connectionWithdrawn,
  type EventEnvelope,
} from '@kith/contracts';
import { makeEvent } from '@kith/service';
import type { AppContext } from './app.ts';
import { changePair } from './change-pair.ts';
import { type Action, decide } from './machine.ts';
import { advance, type LivePair, type Pair, partOf } from './pair.ts';

/**
 * What was done. `life` is the connection or request after the action. If the action has ended the connection or request,
 * `life` is its last state before the end.
 */
export interface Done {
  action: Action;
  life: LivePair;
}

/**
 * Performs an action of a user on a pair: reads the pair, decides about the action, and stores the changed pair with its event.
 * Tries again if the pair was changed in between. `action` may be a function that chooses the action for the pair. Throws the
 * error code from `decide` if the action is refused.
 */
export async function act(
  app: Pick<AppContext, 'store' | 'relay'>,
  by: {
    userId: string;
    action: Action | ((pair: Pair) => Action);
    message?: string | null;
    /**
     * The actor in the event. By default, this is `userId`. If a pair ends because one user's account has ended, this user is
     * the actor.
     */
    actorId?: string;
    /** When to stop trying, in Unix ms. */
    deadline?: number;
  },
  read: () => Promise<Pair>,
): Promise<Done> {
  const { userId, message = null, actorId = userId } = by;
  let done: Done | undefined;
  const next = (before: Pair, at: Date) => {
    const action = typeof by.action === 'string' ? by.action : by.action(before);
    const decision = decide(before.state, partOf(before, userId), action, before.blocks.length > 0);
    if (typeof decision === 'string') throw new ApiError(decision);
    const after = advance(before, decision, { userId, at, message });
    const life = (after.state === 'none' ? before : after) as LivePair;
    done = { action, life };
    return { after, event: eventOf(done, after, { actorId, at }) };
  };
  await changePair(app, read, next, by.deadline);
  return done!;
}

const specs = {
  accept: connectionAccepted,
  decline: connectionDeclined,
  withdraw: connectionWithdrawn,
  disconnect: connectionDisconnected,
} as const;

function eventOf(done: Done, after: Pair, by: { actorId: string; at: Date }): EventEnvelope {
  const { connectionId, requesterId, receiverId, message } = done.life;
  const of = { ...eventOfPair(after), actorId: by.actorId, occurredAt: by.at };
  const data = { connectionId, requesterId, receiverId };
  if (done.action === 'request') return makeEvent(connectionRequested, { ...of, data: { ...data, message } });
  return makeEvent(specs[done.action], { ...of, data });
}

/**
 * The fields that all events of a pair have in common. The aggregate is the pair, so all events between two users have one
 * order.
 */
export function eventOfPair(after: Pair): Pick<EventEnvelope, 'projectId' | 'aggregate'> {
  const { projectId, lower, higher, seq } = after;
  return { projectId, aggregate: { type: 'connection', id: `${lower}:${higher}`, seq } };
}
