// Starts no platform and at most 20 processes.
import { describe, expect, it } from 'vitest';
import { Settler } from '../src/settle/settler.ts';
import { hasMongo, openWorld } from './settle-support/open.ts';
import { type ChildEnd, runChild } from './settle-support/run-child.ts';
import {
  ageLeftovers,
  lampNames,
  lampsOf,
  leftovers,
  places,
  storedSeqs,
  truth,
  viewAll,
} from './settle-support/world.ts';

const lives = 5;

describe.skipIf(!hasMongo)('settler with two processes that die again and again', () => {
  it.each([1, 2])(
    'leaves rows and totals that match the targets (seed %i)',
    { timeout: 120_000 },
    async (seed) => {
      await using world = await openWorld();
      const { url, database, db } = world;
      const process = async (index: number) => {
        const ends: ChildEnd[] = [];
        for (let life = 0; life < lives; life++) {
          const own = seed * 1_000 + index * 100 + life;
          const killAtWrite = life === lives - 1 ? undefined : 20 + ((own * 7919) % 90);
          ends.push(
            await runChild({ url, database, seed: own, flips: 12, ...(killAtWrite ? { killAtWrite } : {}) }),
          );
        }
        return ends;
      };
      const settler = new Settler(db, { now: () => Date.now() + 2_000 });
      const ends = (await Promise.all([process(0), process(1)])).flat();
      expect(ends.some(({ killed }) => killed)).toBe(true);

      expect(await viewAll(db, settler)).toEqual(await truth(db));
      await ageLeftovers(db);
      await settler.sweep(places);
      expect(await leftovers(db)).toBe(0);
      expect(await viewAll(db, settler)).toEqual(await truth(db));

      for (const name of lampNames) {
        const lamp = (await lampsOf(db).findOne({ _id: name }))!;
        const seqs = await storedSeqs(db, name);
        expect(seqs).toEqual(Array.from({ length: lamp.seq }, (_, index) => index + 1));
        expect(lamp.on).toBe(lamp.seq % 2 === 1);
      }
      const acknowledged = ends.flatMap((end) => end.acknowledged);
      const names = new Set(acknowledged.map(({ lamp, seq }) => `${lamp} ${seq}`));
      expect(names.size).toBe(acknowledged.length);
      for (const { lamp, seq } of acknowledged) expect(await storedSeqs(db, lamp)).toContain(seq);
    },
  );
});
