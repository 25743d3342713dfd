import { describe, expect, it } from 'vitest';
import { type Action, decide, type PairState, type Part } from './machine.ts';

const begins = (to: PairState) => ({ to, begins: true });
const goes = (to: PairState) => ({ to, begins: false });
const notFound = 'connection/not-found';
const unauthorized = 'connection/unauthorized';
const pending = 'connection/request-pending';
const connected = 'connection/already-connected';
const declined = 'connection/request-declined';

/** In each row: the state, the action, the outcome for the requester, and the outcome for the receiver. */
const table: readonly [PairState, Action, ReturnType<typeof decide>, ReturnType<typeof decide>][] = [
  ['none', 'request', begins('pending'), begins('pending')],
  ['none', 'accept', notFound, notFound],
  ['none', 'decline', notFound, notFound],
  ['none', 'withdraw', notFound, notFound],
  ['none', 'disconnect', notFound, notFound],
  ['pending', 'request', pending, pending],
  ['pending', 'accept', unauthorized, goes('accepted')],
  ['pending', 'decline', unauthorized, goes('declined')],
  ['pending', 'withdraw', goes('none'), unauthorized],
  ['pending', 'disconnect', notFound, notFound],
  ['accepted', 'request', connected, connected],
  ['accepted', 'accept', notFound, notFound],
  ['accepted', 'decline', notFound, notFound],
  ['accepted', 'withdraw', notFound, notFound],
  ['accepted', 'disconnect', goes('none'), goes('none')],
  ['declined', 'request', declined, begins('pending')],
  ['declined', 'accept', notFound, notFound],
  ['declined', 'decline', notFound, notFound],
  ['declined', 'withdraw', notFound, notFound],
  ['declined', 'disconnect', notFound, notFound],
];

describe('decide', () => {
  it.each(table)(
    'in state %s, %s has the expected outcome for both users',
    (state, action, byRequester, byReceiver) => {
      const by = (part: Part) => decide(state, part, action);
      expect([by('requester'), by('receiver')]).toEqual([byRequester, byReceiver]);
    },
  );

  it('lets a user who has no part in the pair send the first request', () => {
    expect(decide('none', null, 'request')).toEqual(begins('pending'));
  });

  it('refuses a request in every state while there is a block, but still lets a connection be ended', () => {
    for (const state of ['none', 'pending', 'accepted', 'declined'] as const) {
      for (const part of [null, 'requester', 'receiver'] as const) {
        expect(decide(state, part, 'request', true)).toBe('connection/not-allowed');
      }
    }
    expect(decide('accepted', 'receiver', 'disconnect', true)).toEqual(goes('none'));
  });

  it.each(['pending', 'accepted', 'declined'] as const)(
    'in state %s, answers "not found" to a user who has no part in the pair',
    (state) => {
      for (const action of ['accept', 'decline', 'withdraw', 'disconnect'] as const) {
        expect(decide(state, null, action)).toBe(notFound);
      }
    },
  );

  it('is tested with every action in every state', () => {
    expect(new Set(table.map(([state, action]) => `${state} ${action}`)).size).toBe(4 * 5);
  });
});
