import type { ErrorCode } from '@kith/contracts';

/** The state between two users (spec#connections-states). */
export type PairState = 'none' | 'pending' | 'accepted' | 'declined';
/** An action that a user may try on a pair. */
export type Action = 'request' | 'accept' | 'decline' | 'withdraw' | 'disconnect';
/** A user's part in a pair. In state `none`, neither user has a part. */
export type Part = 'requester' | 'receiver';

export interface Transition {
  to: PairState;
  /**
   * Whether a new request begins. If so, the actor becomes the requester, the other user becomes the receiver, and the
   * connection id is new.
   */
  begins: boolean;
}

type Rule = { to: PairState; by: 'either' } | { to: PairState; by: Part; otherwise: ErrorCode };

const receiver = { by: 'receiver', otherwise: 'connection/unauthorized' } as const;
const requester = { by: 'requester', otherwise: 'connection/unauthorized' } as const;
const either = { by: 'either' } as const;

/**
 * Who may perform which action in which state. An error code means that the action is refused for everybody. If an action has
 * no rule, it is refused with `connection/not-found`.
 */
const rules: Record<PairState, Partial<Record<Action, Rule | ErrorCode>>> = {
  none: { request: { to: 'pending', ...either } },
  pending: {
    request: 'connection/request-pending',
    accept: { to: 'accepted', ...receiver },
    decline: { to: 'declined', ...receiver },
    withdraw: { to: 'none', ...requester },
  },
  accepted: { request: 'connection/already-connected', disconnect: { to: 'none', ...either } },
  declined: {
    request: { to: 'pending', by: 'receiver', otherwise: 'connection/request-declined' },
  },
};

/**
 * Decides what an action leads to, or with which error code it is refused (spec#connections-request-refused,
 * spec#connections-no-party). The checks come in this order: First, a request is refused if either user blocks the other. Then
 * an action that has no rule in the state is refused with `connection/not-found`. If the actor has no part in the pair, any
 * action except a request gets the same error. Then an action is refused if the state allows it to nobody. Last, an actor with
 * the wrong part is refused.
 */
export function decide(
  state: PairState,
  actor: Part | null,
  action: Action,
  isBlocked = false,
): Transition | ErrorCode {
  if (isBlocked && action === 'request') return 'connection/not-allowed';
  const rule = rules[state][action];
  if (!rule || (actor === null && action !== 'request')) return 'connection/not-found';
  if (typeof rule === 'string') return rule;
  if (rule.by !== 'either' && rule.by !== actor) return rule.otherwise;
  return { to: rule.to, begins: action === 'request' };
}
