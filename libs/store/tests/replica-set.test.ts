import { testEffort } from '@kith/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Client, type Concern } from './replica-set/client.ts';
import { NotModelled } from './replica-set/documents.ts';
import { ReplicaSet } from './replica-set/members.ts';
import { type Fault, losesNothing, type Outcome, play, schedules } from './replica-set/play.ts';

/**
 * Plays schedules until `isSo` returns true for an outcome. Returns whether there was such an outcome. The schedules are the
 * same in each run.
 */
async function comesToBe(
  isSo: (outcome: Outcome) => boolean,
  concern: (collection: string) => Concern,
): Promise<boolean> {
  for (const schedule of fc.sample(schedules(), { seed: 2, numRuns: 300 })) {
    if (isSo(await play(schedule, concern))) return true;
  }
  return false;
}

describe('on a replica set that fails over between any two steps', () => {
  test('acknowledged changes are stored, counted exactly once and published exactly once', async () => {
    await losesNothing(200 * testEffort(), 20_000);
  });

  test.each<Fault>([
    'totals, rows and targets differ',
    'an event was published for a change that is not there',
    'two events were published for one seq',
  ])('reads of entries that only one member has can have this effect: %s', async (fault) => {
    expect(
      await comesToBe(
        ({ faults }) => faults.includes(fault),
        () => 'local',
      ),
    ).toBe(true);
  });

  test('an event that has the key of an earlier event is published, and logged as a conflict', async () => {
    // With these read concerns, an event can be copied from a lamp before the lamp's change is rolled back.
    const concern = (collection: string) => (collection === 'lamps' ? 'local' : 'majority');
    expect(await comesToBe(({ besides }) => besides > 0, concern)).toBe(true);
  });
});

describe('the model', () => {
  test('rolls back only entries that reached no majority', async () => {
    const set = new ReplicaSet();
    const [old] = set.members;
    const stale = new Client(set, [], () => 'local');
    const admin = new Client(set);
    const things = admin.db.collection<{ _id: string }>('things');
    await things.insertOne({ _id: 'kept' });
    set.failOver();
    expect([old.isPrimary, set.leader.isPrimary, set.leader === old]).toEqual([true, true, false]);
    old.append([
      { term: old.term, collection: 'things', id: 'lost', document: { _id: 'lost' }, statement: '' },
    ]);
    const acknowledged = old.majority(old.log.length);
    const has = (data: typeof old.head) => [...(data.get('things')?.keys() ?? [])];
    expect([has(old.head), has(old.committed)]).toEqual([['kept', 'lost'], ['kept']]);
    set.rejoin();
    await expect(acknowledged).rejects.toThrow();
    expect([old.isPrimary, has(old.head)]).toEqual([false, ['kept']]);
    stale.bury();
    admin.discover();
    expect(await things.find().toArray()).toEqual([{ _id: 'kept' }]);
  });

  test('refuses features that it does not have', () => {
    const things = new Client(new ReplicaSet()).db.collection('things');
    expect(() => things.aggregate()).toThrow(NotModelled);
    NotModelled.first = undefined;
  });
});
