import type { ErrorCode } from '@kith/contracts';

/** Where two users stand with each other (spec#connections-states). */
export type PairState = 'none' | 'pending' | 'accepted' | 'declined';
/** An action that a user may try on a pair. */
export type Action = 'request' | 'accept' | 'decline' | 'withdraw' | 'disconnect';
/** The part a user has in the record of the pair; in state `none` there are no parts. */
export type Part = 'requester' | 'receiver';

export interface Transition {
  to: PairState;
  /** A new life: the actor becomes the requester, the other the receiver, under a new connection id. */
  begins: boolean;
}

type Rule = { to: PairState; by: 'either' } | { to: PairState; by: Part; otherwise: ErrorCode };

const receiver = { by: 'receiver', otherwise: 'connection/unauthorized' } as const;
const requester = { by: 'requester', otherwise: 'connection/unauthorized' } as const;
const either = { by: 'either' } as const;

/** Who may do what in which state. An error code refuses everybody; an action without a rule is refused as not found. */
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
 * Decides what an action leads to, or with which code it is refused (spec#connections-request-refused,
 * spec#connections-no-party). An actor who has no part in the record, or an action that the state does not have, is refused
 * as not found; then an actor with the wrong part is refused. Only a request needs no part in the record. While either of the
 * two blocks the other, a request is refused before all else.
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
