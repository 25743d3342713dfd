import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Change } from '../src/settle/plan.ts';
import type { Step } from '../src/settle/roll-forward.ts';
import { Settler } from '../src/settle/settler.ts';
import { writeRow } from '../src/settle/write-row.ts';
import { hasMongo, openWorld, type World } from './settle-support/open.ts';
import {
  ageLeftovers,
  flip,
  type Lamp,
  lampNames,
  lampsOf,
  leftovers,
  notGone,
  ownersOf,
  places,
  readLamp,
  rowsOf,
  storedSeqs,
  truth,
  viewAll,
} from './settle-support/world.ts';

class Died extends Error {}

/** A settler that fails at a step, as if its process had died at this step. */
function dyingAt(world: World, step: Step): Settler {
  return new Settler(world.db, {
    onStep(reached) {
      if (reached === step) throw new Died();
    },
  });
}

/** A settler that stops at a step until the test lets it continue. */
function pausingAt(world: World, step: Step) {
  const reached = Promise.withResolvers<void>();
  const going = Promise.withResolvers<void>();
  const settler = new Settler(world.db, {
    async onStep(now) {
      if (now !== step) return;
      reached.resolve();
      await going.promise;
    },
  });
  return { settler, reached: reached.promise, go: () => going.resolve() };
}

/** A database in which the first update of an owner is repeated when the test calls `again`. */
function repeating(db: World['db']) {
  let again = (): Promise<unknown> => Promise.reject(new Error('No owner was updated.'));
  let isFirst = true;
  const owners = new Proxy(ownersOf(db), {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        if (name === 'updateOne' && isFirst) {
          isFirst = false;
          again = () => value.apply(target, given);
        }
        return value.apply(target, given);
      };
    },
  });
  const collection = (name: string) => (name === 'owners' ? owners : db.collection(name));
  return { db: { collection } as World['db'], again: () => again() };
}

/**
 * Readers and sweeps do not settle an intent that is younger than a second, because its writer may still settle it. This clock
 * is two seconds ahead, so that readers and sweeps do not wait.
 */
const later = { now: () => Date.now() + 2_000 };

describe.skipIf(!hasMongo)('settler', () => {
  let world: World;
  let settler: Settler;
  beforeAll(async () => {
    world = await openWorld();
    settler = new Settler(world.db, later);
  });
  afterAll(() => world[Symbol.asyncDispose]());
  afterEach(async () => {
    vi.useRealTimers();
    await ageLeftovers(world.db);
    await settler.sweep(places);
    expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));
    expect(await leftovers(world.db)).toBe(0);
  });

  /** A settled lamp that is off. */
  async function lampOff(name: string = lampNames[0]): Promise<Lamp> {
    const lamp = await readLamp(world.db, settler, name);
    return lamp.on ? (await flip(settler, lamp))! : lamp;
  }

  it('makes a change completely: target, rows, counters and event', async () => {
    const off = await lampOff();
    const on = await flip(settler, off);
    expect(on).toMatchObject({ on: true, rev: off.rev + 1 });
    expect(await lampsOf(world.db).findOne({ _id: off._id })).toMatchObject({ on: true, rev: off.rev + 1 });
    expect(await leftovers(world.db)).toBe(0);
    expect((await storedSeqs(world.db, off._id)).at(-1)).toBe(on?.seq);
    expect((await truth(world.db)).owner0?.total).toBeGreaterThan(0);
  });

  it('leaves nothing behind if a compare-and-set fails', async () => {
    const read = await lampOff();
    const on = await flip(settler, read);
    expect(on).not.toBeNull();
    expect(await flip(settler, read)).toBeNull();
    expect(await leftovers(world.db)).toBe(0);
    expect((await lampsOf(world.db).findOne({ _id: read._id }))?.life).toBe(on?.life);
  });

  it('makes exactly one of many racing changes', async () => {
    const read = await lampOff();
    const made = await Promise.all(Array.from({ length: 20 }, () => flip(settler, read)));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await leftovers(world.db)).toBe(0);
  });

  it('adds both sums if a change names a counter twice', async () => {
    const lamp = await lampOff();
    const before = (await ownersOf(world.db).findOne({ _id: 'owner0' }))?.n ?? 0;
    const twice = { in: 'owners', id: 'owner0' };
    const change = (rev: number, sign: 1 | -1): Change => ({
      target: { in: 'lamps', id: lamp._id, rev },
      set: {},
      events: [],
      rows: [],
      counters: [
        { ...twice, inc: { n: 2 * sign } },
        { ...twice, inc: { n: 3 * sign, other: sign } },
      ],
    });
    expect(await settler.change(change(lamp.rev, 1))).toBe(true);
    expect(await ownersOf(world.db).findOne({ _id: 'owner0' })).toMatchObject({ n: before + 5, other: 1 });
    expect(await settler.change(change(lamp.rev + 1, -1))).toBe(true);
    expect(await ownersOf(world.db).findOne({ _id: 'owner0' })).toMatchObject({ n: before, other: 0 });
  });

  it('does not leave a change unsettled if nothing follows from it', async () => {
    const lamp = await lampOff();
    const target = { in: 'lamps', id: lamp._id, rev: lamp.rev };
    expect(await settler.change({ target, set: {}, events: [], rows: [], counters: [] })).toBe(true);
    expect(await lampsOf(world.db).findOne({ _id: lamp._id })).not.toHaveProperty('unsettled');
  });

  it('settles a change only once if many readers and sweeps find it at the same time', async () => {
    const off = await lampOff();
    await expect(flip(dyingAt(world, 'committed'), off)).rejects.toThrow(Died);
    const unsettled = (await lampsOf(world.db).findOne({ _id: off._id }))!;
    const others = await Promise.all([world.another(), world.another(), world.another()]);
    await Promise.all(
      others.flatMap((db) => [
        new Settler(db).settleTarget('lamps', unsettled),
        viewAll(db, new Settler(db, later)),
        new Settler(db, later).sweep(places),
      ]),
    );
    expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));
    expect(await leftovers(world.db)).toBe(0);
  });

  it('settles an earlier change before a later one of the same target', async () => {
    const off = await lampOff();
    await expect(flip(dyingAt(world, 'rows'), off)).rejects.toThrow(Died);
    const unsettled = (await lampsOf(world.db).findOne({ _id: off._id }))!;
    expect(await flip(settler, unsettled)).toBeNull();
    expect(await flip(settler, await readLamp(world.db, settler, off._id))).toMatchObject({ on: false });
  });

  it.each(['committed', 'rows', 'counters'] as const)(
    'tolerates a process that continues from the step %s after a later change has removed its rows',
    async (step) => {
      const slow = pausingAt(world, step);
      const off = await lampOff();
      const flipping = flip(slow.settler, off);
      await slow.reached;
      const on = await readLamp(world.db, settler, off._id);
      expect(await flip(settler, on)).toMatchObject({ on: false });
      slow.go();
      expect(await flipping).toMatchObject({ on: true });
      expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));
    },
  );

  it('tolerates a process that continues after its rows were removed and permanently deleted', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const slow = pausingAt(world, 'committed');
    const off = await lampOff();
    const flipping = flip(slow.settler, off);
    await slow.reached;
    await flip(settler, await readLamp(world.db, settler, off._id));
    await rowsOf(world.db).deleteMany({ gone: true });
    vi.setSystemTime(Date.now() + 11 * 60_000);
    slow.go();
    await flipping;
    expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));
  });

  it.each(['insertOne', 'replaceOne'] as const)(
    'tolerates a writer that was suspended just before its %s',
    async (call) => {
      const rows = rowsOf(world.db);
      const row = { in: 'rows', id: `owner9|asleep|${call}`, put: { lamp: 'lamp9' } };
      const asleep = Promise.withResolvers<void>();
      const woken = Promise.withResolvers<void>();
      const sleepy = new Proxy(rows, {
        get(target, name) {
          const method = (Reflect.get(target, name) as (...args: unknown[]) => unknown).bind(target);
          if (name !== call) return method;
          return async (...args: unknown[]) => {
            asleep.resolve();
            await woken.promise;
            return method(...args);
          };
        },
      });
      const until = Date.now() + 10_000;
      const writing = writeRow(sleepy, row, { rev: 1, until });
      await asleep.promise;
      await writeRow(rows, row, { rev: 1, until });
      await writeRow(rows, { ...row, put: null }, { rev: 2, until });
      await rows.deleteMany({ gone: true });
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 11 * 60_000 });
      woken.resolve();
      expect(await writing).toBe(false);
      expect(await rows.findOne({ _id: row.id, ...notGone })).toBeNull();
    },
  );

  it('leaves an intent alone if its change may still commit', async () => {
    const slow = pausingAt(world, 'announced');
    const off = await lampOff();
    const flipping = flip(slow.settler, off);
    await slow.reached;
    expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));
    await settler.sweep(places);
    expect(await leftovers(world.db)).toBe(2);
    slow.go();
    expect(await flipping).toMatchObject({ on: true });
  });

  it.each(['committed', 'rows', 'counters'] as const)(
    'leaves a recent change to its writer at the step %s, and a reader sees all acknowledged changes',
    async (step) => {
      // The clock stands still. So for the reader, the change stays recent, no matter how long this test takes.
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
      const reader = new Settler(world.db);
      const off = await lampOff();
      const slow = pausingAt(world, step);
      const flipping = flip(slow.settler, off);
      await slow.reached;
      const open = await leftovers(world.db);
      expect(open).toBeGreaterThan(0);
      const other = await flip(settler, await readLamp(world.db, settler, lampNames[1]));
      const { owner2 } = await truth(world.db);
      expect((await viewAll(world.db, reader)).owner2).toEqual(owner2);
      expect(other).not.toBeNull();
      expect(await leftovers(world.db)).toBe(open);
      slow.go();
      expect(await flipping).toMatchObject({ on: true });
      // The change is acknowledged: any reader sees it from now on.
      expect(await viewAll(world.db, reader)).toEqual(await truth(world.db));
    },
  );

  it('settles an intent of a dead process only once, even if many readers find it', async () => {
    await expect(flip(dyingAt(world, 'committed'), await lampOff())).rejects.toThrow(Died);
    let settled = 0;
    const reading = new Settler(world.db, {
      ...later,
      onStep(step) {
        if (step === 'settled') settled += 1;
      },
    });
    await Promise.all(Array.from({ length: 30 }, () => viewAll(world.db, reading)));
    // The change has an intent in the counter of each of two owners.
    expect(settled).toBeGreaterThan(0);
    expect(settled).toBeLessThanOrEqual(2);
  });

  it('leaves a slow change of its own process to the call that makes the change', async () => {
    const reached = Promise.withResolvers<void>();
    const going = Promise.withResolvers<void>();
    const steps: Step[] = [];
    const slow = new Settler(world.db, {
      ...later,
      async onStep(step) {
        steps.push(step);
        if (step !== 'committed') return;
        reached.resolve();
        await going.promise;
      },
    });
    const flipping = flip(slow, await lampOff());
    await reached.promise;
    const open = await leftovers(world.db);
    await ageLeftovers(world.db);
    await viewAll(world.db, slow);
    expect(await leftovers(world.db)).toBe(open);
    going.resolve();
    expect(await flipping).toMatchObject({ on: true });
    expect(steps.filter((step) => step === 'settled')).toHaveLength(1);
  });

  describe('a counter that is full of intents', () => {
    const crowd = (target: Lamp, at: Date) =>
      Array.from({ length: 500 }, (_, n) => ({
        op: `crowd-${n}`,
        in: 'lamps',
        target: target._id,
        fromRev: target.rev,
        at,
      }));

    it('refuses a further change before anything is stored, so that the change can be tried again', async () => {
      const off = await lampOff();
      const before = await truth(world.db);
      const pending = crowd(off, new Date());
      await ownersOf(world.db).updateOne({ _id: 'owner1' }, { $set: { pending } });
      const refused = flip(new Settler(world.db, { patienceMs: 50 }), off);
      await expect(refused).rejects.toMatchObject({ code: 'gateway/unavailable' });
      expect(await truth(world.db)).toEqual(before);
      expect(await leftovers(world.db)).toBe(500);
      const found = await ownersOf(world.db)
        .find({ 'pending.0': { $exists: true } })
        .toArray();
      expect(found.map(({ _id }) => _id)).toEqual(['owner1']);
      await ownersOf(world.db).updateOne({ _id: 'owner1' }, { $set: { pending: [] } });
      expect(await flip(settler, off)).toMatchObject({ on: true });
    });

    it('accepts a further change after the intents of failed changes are removed', async () => {
      const off = await lampOff();
      const gone = { ...off, rev: off.rev - 1 };
      await ownersOf(world.db).updateOne(
        { _id: 'owner1' },
        { $set: { pending: crowd(gone, new Date(Date.now() - 5_000)) } },
      );
      expect(await flip(new Settler(world.db), off)).toMatchObject({ on: true });
      const left = (await ownersOf(world.db).findOne({ _id: 'owner1' }))?.pending ?? [];
      expect(left).toHaveLength(480);
      await ownersOf(world.db).updateOne({ _id: 'owner1' }, { $set: { pending: [] } });
    });
  });

  it('counts a change only once, even if its intent is written again after the change was counted', async () => {
    await using fresh = await openWorld();
    const { db, again } = repeating(fresh.db);
    const dying = new Settler(db, {
      async onStep(step) {
        if (step !== 'counters') return;
        await again();
        throw new Died();
      },
    });
    await expect(flip(dying, await readLamp(fresh.db, settler, 'lamp0'))).rejects.toThrow(Died);
    const sweeping = new Settler(fresh.db, { now: () => Date.now() + 60_000 });
    await sweeping.sweep(places);
    expect(await leftovers(fresh.db)).toBe(0);
    expect(await viewAll(fresh.db, sweeping)).toEqual(await truth(fresh.db));
  });

  it('fences off a stale intent, so that its change cannot commit any more', async () => {
    const slow = pausingAt(world, 'announced');
    const off = await lampOff();
    const flipping = flip(slow.settler, off);
    await slow.reached;
    await ageLeftovers(world.db);
    await settler.sweep(places);
    expect(await leftovers(world.db)).toBe(0);
    slow.go();
    expect(await flipping).toBeNull();
    expect((await lampsOf(world.db).findOne({ _id: off._id }))?.on).toBe(false);
  });

  it('removes an intent whose change has lost a race', async () => {
    const slow = pausingAt(world, 'announced');
    const off = await lampOff();
    const flipping = flip(slow.settler, off);
    await slow.reached;
    await flip(settler, off);
    await viewAll(world.db, settler);
    expect(await leftovers(world.db)).toBe(0);
    slow.go();
    expect(await flipping).toBeNull();
  });

  it('recognises its own commit if the answer to the commit was lost', async () => {
    const off = await lampOff();
    const db = await world.another();
    const commitsTwice = new Proxy(db, {
      get(target, name) {
        if (name !== 'collection') return Reflect.get(target, name).bind(target);
        return (collection: string) => {
          const lamps = target.collection<Lamp>(collection);
          if (collection !== 'lamps') return lamps;
          const updateOne: typeof lamps.updateOne = async (...args) => {
            await lamps.updateOne(...args);
            return lamps.updateOne(...args);
          };
          return new Proxy(lamps, {
            get: (inner, key) =>
              key === 'updateOne' ? updateOne : (Reflect.get(inner, key) as () => void).bind(inner),
          });
        };
      },
    });
    expect(await flip(new Settler(commitsTwice), off)).toMatchObject({ on: true });
  });

  it('sweeps all other targets if one target cannot be settled', async () => {
    const first = await lampOff(lampNames[0]);
    const second = await lampOff(lampNames[1]);
    await expect(flip(dyingAt(world, 'committed'), first)).rejects.toThrow(Died);
    await expect(flip(dyingAt(world, 'committed'), second)).rejects.toThrow(Died);
    await ageLeftovers(world.db);
    await lampsOf(world.db).updateOne({ _id: first._id }, { $set: { 'unsettled.rows.0.in': '' } });
    await expect(settler.sweep(places)).rejects.toThrow(AggregateError);
    expect(await lampsOf(world.db).findOne({ _id: second._id })).not.toHaveProperty('unsettled');
    await lampsOf(world.db).updateOne({ _id: first._id }, { $set: { 'unsettled.rows.0.in': 'rows' } });
  });
});
