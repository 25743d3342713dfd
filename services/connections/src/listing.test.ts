import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Entry,
  entriesChange,
  entriesOf,
  entryKey,
  isPlace,
  listRange,
  placeOf,
  totalsChange,
} from './listing.ts';
import { decide, type PairState } from './machine.ts';
import { advance, type Pair, partOf, strangers, withBlock, withoutBlock } from './pair.ts';

const projectId = '00000000-0000-4000-8000-000000000001';
const ann = '00000000-0000-4000-8000-00000000000a';
const bob = '00000000-0000-4000-8000-00000000000b';

function entryAt(ms: number, id: string): Entry {
  const connectedAt = new Date(ms);
  const common = { projectId, ownerId: ann, userId: bob, message: null, requestedAt: new Date(0) };
  return { ...common, list: 'established', id, connectedAt };
}

describe('placeOf', () => {
  it('makes places that sort as text: newest first, then by id', () => {
    const time = fc.integer({ min: 0, max: 9_999_999_999_999 });
    fc.assert(
      fc.property(time, time, fc.uuid(), fc.uuid(), (one, other, id, otherId) => {
        const isFirst = one > other || (one === other && id < otherId);
        expect(placeOf(entryAt(one, id)) < placeOf(entryAt(other, otherId))).toBe(isFirst);
      }),
    );
  });

  it('makes keys that lie only in the range of their own list', () => {
    const key = entryKey(entryAt(Date.now(), bob));
    const { from, to } = listRange({ projectId, ownerId: ann, list: 'established' });
    expect(key > from && key < to).toBe(true);
    const sent = listRange({ projectId, ownerId: ann, list: 'sent' });
    expect(key > sent.from && key < sent.to).toBe(false);
  });

  it('makes places that isPlace distinguishes from other texts', () => {
    expect(isPlace(placeOf(entryAt(Date.now(), bob)))).toBe(true);
    expect(isPlace('')).toBe(false);
    expect(isPlace(`${placeOf(entryAt(0, bob))}}`)).toBe(false);
  });
});

describe('totalsChange', () => {
  const actions = ['request', 'accept', 'decline', 'withdraw', 'disconnect', 'block', 'unblock'] as const;

  function next(pair: Pair, userId: string, action: (typeof actions)[number]): Pair {
    const by = { userId, at: new Date(), message: null };
    if (action === 'block') return withBlock(pair, by) ?? pair;
    if (action === 'unblock') return withoutBlock(pair, userId) ?? pair;
    const decision = decide(pair.state, partOf(pair, userId), action, pair.blocks.length > 0);
    return typeof decision === 'string' ? pair : advance(pair, decision, by);
  }

  it('gives totals that equal the numbers of rows after any actions of the two users', () => {
    const step = fc.record({ userId: fc.constantFrom(ann, bob), action: fc.constantFrom(...actions) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let pair: Pair = strangers(projectId, bob, ann);
        const totals: Record<string, number> = {};
        for (const { userId, action } of steps) {
          const after = next(pair, userId, action);
          for (const { ownerId, add } of totalsChange(entriesChange(pair, after))) {
            for (const [list, by] of Object.entries(add)) {
              totals[`${ownerId} ${list}`] = (totals[`${ownerId} ${list}`] ?? 0) + by;
            }
          }
          pair = after;
        }
        const listed = entriesOf(pair).map(({ ownerId, list }) => `${ownerId} ${list}`);
        const counted = Object.keys(totals).filter((key) => totals[key] !== 0);
        expect(counted.sort()).toEqual(listed.sort());
        for (const key of counted) expect(totals[key]).toBe(1);
      }),
    );
  });

  it.each<[PairState, string[]]>([
    ['none', []],
    ['pending', [`${ann} sent`, `${bob} received`]],
    ['accepted', [`${ann} established`, `${bob} established`]],
    ['declined', []],
  ])('a pair in state %s has the expected rows', (state, expected) => {
    const at = new Date();
    const pending = advance(
      strangers(projectId, ann, bob),
      { to: 'pending', begins: true },
      { userId: ann, at, message: 'Hi' },
    );
    const pair =
      state === 'pending'
        ? pending
        : advance(pending, { to: state, begins: false }, { userId: bob, at, message: null });
    expect(entriesOf(pair).map(({ ownerId, list }) => `${ownerId} ${list}`)).toEqual(expected);
  });
});
