// Starts no platform and at most 30 processes.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Step } from '../src/settle/roll-forward.ts';
import { Settler } from '../src/settle/settler.ts';
import { hasMongo, openWorld, type World } from './settle-support/open.ts';
import { runChild } from './settle-support/run-child.ts';
import {
  ageLeftovers,
  flip,
  lampNames,
  lampsOf,
  leftovers,
  places,
  readLamp,
  storedSeqs,
  truth,
  viewAll,
} from './settle-support/world.ts';

const steps: readonly Step[] = ['announced', 'committed', 'rows', 'counters', 'settled'];
const lamp = lampNames[0];

/** Brings one lamp to a state, and switches all other lamps on. */
async function prepare(world: World, settler: Settler, on: boolean): Promise<number> {
  for (const name of lampNames) {
    const read = await readLamp(world.db, settler, name);
    if (read.on !== (name === lamp ? on : true)) await flip(settler, read);
  }
  return (await lampsOf(world.db).findOne({ _id: lamp }))!.seq;
}

/**
 * Asserts that the change of a killed process is complete or absent. Checks this first after reads only, and then after a
 * sweep. Also asserts that the lamps can still be changed.
 */
async function expectWhole(world: World, settler: Settler, seq: number): Promise<void> {
  expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));
  await expectSwept(world, settler, seq);
}

async function expectSwept(world: World, settler: Settler, seq: number): Promise<void> {
  await ageLeftovers(world.db);
  await settler.sweep(places);
  expect(await leftovers(world.db)).toBe(0);
  expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));
  expect((await storedSeqs(world.db, lamp)).at(-1) ?? 0).toBe(seq);
  expect(await flip(settler, await readLamp(world.db, settler, lamp))).not.toBeNull();
  expect(await viewAll(world.db, settler)).toEqual(await truth(world.db));
}

describe.skipIf(!hasMongo)('a change whose process is killed', () => {
  let world: World;
  let settler: Settler;
  beforeAll(async () => {
    world = await openWorld();
    settler = new Settler(world.db, { now: () => Date.now() + 2_000 });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(steps)('a change that is killed at the step %s is complete or absent', async (killAtStep) => {
    const { url, database } = world;
    for (const expectAfter of [expectWhole, expectSwept]) {
      const before = await prepare(world, settler, false);
      const end = await runChild({ url, database, seed: 1, flips: 1, lamp, killAtStep });
      expect(end).toEqual({ killed: true, acknowledged: [] });
      await expectAfter(world, settler, killAtStep === 'announced' ? before : before + 1);
    }
  });

  it.each([
    // The writes are two intents, the commit, two rows, two counters, and the mark that the target is settled. A new row takes
    // two writes: it is inserted hidden, and then shown.
    { change: 'on', on: false, writes: 10 },
    { change: 'off', on: true, writes: 8 },
  ])('a killed change is complete or absent ($change)', { timeout: 120_000 }, async ({ on, writes }) => {
    const { url, database } = world;
    for (let killAtWrite = 1; killAtWrite <= writes + 1; killAtWrite++) {
      const before = await prepare(world, settler, on);
      const end = await runChild({ url, database, seed: 1, flips: 1, lamp, killAtWrite });
      expect(end.killed).toBe(killAtWrite <= writes);
      const after = (await lampsOf(world.db).findOne({ _id: lamp }))!.seq;
      expect(after - before).toBe(killAtWrite < 3 ? 0 : 1);
      for (const { seq } of end.acknowledged) expect(seq).toBe(after);
      await expectWhole(world, settler, after);
    }
  });
});
