import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeAll, type ManyChange } from '../src/settle/change-all.ts';
import type { Step } from '../src/settle/roll-forward.ts';
import { Settler } from '../src/settle/settler.ts';
import { hasMongo, openWorld, type World } from './settle-support/open.ts';
import {
  ageLeftovers,
  flip,
  type Lamp,
  lampNames,
  lampsOf,
  leftovers,
  ownersOfLamp,
  places,
  readLamp,
  rowId,
  truth,
  viewAll,
} from './settle-support/world.ts';

const steps: readonly Step[] = ['announced', 'committed', 'rows', 'counters', 'settled'];
let lives = 0;

/** The change that switches a lamp on, with all that follows from it. */
function switchOn(lamp: Pick<Lamp, '_id' | 'rev'>, make = false): ManyChange {
  const life = `life${++lives}`;
  return {
    target: { in: 'lamps', id: lamp._id, rev: lamp.rev },
    ...(make ? { make: { on: false, life: '', seq: 0 } } : {}),
    set: { on: true, life },
    rows: ownersOfLamp(lamp._id).map((owner) => ({
      in: 'rows',
      id: rowId(owner, lamp._id, life),
      put: { lamp: lamp._id },
    })),
    counters: ownersOfLamp(lamp._id).map((owner) => ({ in: 'owners', id: owner, inc: { n: 1 } })),
  };
}

describe.skipIf(!hasMongo)('many changes at once', () => {
  let world: World;
  let settler: Settler;
  beforeAll(async () => {
    world = await openWorld();
    // Readers do not settle an intent that is younger than a second, because its writer may still settle it. The clock of this
    // settler is two seconds ahead, so that the settler does not wait.
    settler = new Settler(world.db, { now: () => Date.now() + 2_000 });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const off = async () => {
    const lamps: Lamp[] = [];
    for (const name of lampNames) {
      const lamp = await readLamp(world.db, settler, name);
      lamps.push((lamp.on && (await flip(settler, lamp))) || lamp);
    }
    return lamps;
  };
  const agrees = async () => expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));

  it('many changes are all stored with their rows and totals, and leave nothing unsettled', async () => {
    const lamps = await off();
    expect(
      await changeAll(
        world.db,
        settler,
        lamps.map((lamp) => switchOn(lamp)),
      ),
    ).toEqual([true, true, true, true]);
    expect(await lampsOf(world.db).countDocuments({ on: true })).toBe(4);
    expect(await leftovers(world.db)).toBe(0);
    await agrees();
  });

  it('many changes create missing targets, and the result says which targets another process created first', async () => {
    const lamps = await off();
    await lampsOf(world.db).deleteMany({ _id: { $in: [lampNames[0], lampNames[1]] } });
    const [, , third] = lamps;
    await flip(settler, third!);
    const changes = lamps.map((lamp, index) =>
      index < 2 ? switchOn({ ...lamp, rev: 0 }, true) : switchOn(lamp),
    );
    expect(await changeAll(world.db, settler, changes)).toEqual([true, true, false, true]);
    expect(await leftovers(world.db)).toBe(0);
    await agrees();
  });

  it.each(steps)(
    'each change is stored completely or not at all if the process dies at the step %s',
    async (step) => {
      const lamps = await off();
      const died = changeAll(
        world.db,
        settler,
        lamps.map((lamp) => switchOn(lamp)),
        (reached) => {
          if (reached === step) throw new Error('died');
        },
      );
      await expect(died).rejects.toThrow('died');
      // The next reader sees the correct state, without waiting for a sweep.
      await agrees();
      await ageLeftovers(world.db);
      await settler.sweep(places);
      expect(await leftovers(world.db)).toBe(0);
      await agrees();
      expect(await lampsOf(world.db).countDocuments({ on: true })).toBe(step === 'announced' ? 0 : 4);
    },
  );

  it.each(['announced', 'committed', 'rows'] as const)(
    'each change is counted only once, even if another process settles some of the changes at the step %s',
    async (step) => {
      const others = new Settler(await world.another());
      const lamps = await off();
      const changes = lamps.map((lamp) => switchOn(lamp));
      const made = await changeAll(world.db, settler, changes, async (reached) => {
        if (reached !== step) return;
        const first = await lampsOf(world.db).findOne({ _id: lampNames[0] });
        await others.settleTarget('lamps', first!);
      });
      expect(made).toEqual([true, true, true, true]);
      expect(await leftovers(world.db)).toBe(0);
      await agrees();
    },
  );

  it('totals stay exact while other processes read and change the same targets', async () => {
    const others = new Settler(await world.another());
    const db = await world.another();
    for (let round = 0; round < 10; round++) {
      const lamps = await off();
      await Promise.all([
        changeAll(
          world.db,
          settler,
          lamps.map((lamp) => switchOn(lamp)),
        ),
        viewAll(db, others),
        flip(others, await readLamp(db, others, lampNames[round % 4]!)),
        viewAll(db, others),
      ]);
      await agrees();
    }
    await ageLeftovers(world.db);
    await settler.sweep(places);
    expect(await leftovers(world.db)).toBe(0);
    await agrees();
  });
});
