// Quick counterpart: tests/move.test.ts
// Starts no platform and at most 24 processes.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { caller } from '@kith/platform';
import { availableEngines, type Engines, eraseEngines, startEngines, uniquePrefix } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kith, longResult, runKith } from './support/command.ts';
import { makeBusy, movedSecret, moveProgress, startInFolder } from './support/moved-installation.ts';

describe.runIf(availableEngines().includes('containers'))('kith move, killed', () => {
  const prefix = uniquePrefix();
  let folder: string;
  let engines: Engines;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kith-move-'));
    engines = await startEngines();
  });
  afterAll(async () => {
    await eraseEngines(engines, prefix);
    await engines[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('continues after a kill at any step, and gets the same result', async () => {
    const original = join(folder, 'original');
    {
      await using platform = await startInFolder(original);
      await makeBusy(caller(platform.url));
    }
    /** Moves a copy of the installation to new databases. If `killAt` is given, the first move is killed at that step. */
    const move = async (name: string, killAt?: string) => {
      const data = join(folder, name);
      await cp(original, data, { recursive: true });
      const env = {
        MONGODB_URL: engines.mongodbUrl,
        KITH_PREFIX: `${prefix}_${name}`,
        KITH_SECRET: movedSecret,
      };
      const killed = killAt === undefined ? undefined : await kith(['move', '--from', data], env, killAt);
      return { killed, ended: await runKith(['move', '--from', data, '--json'], env) };
    };
    const { ended: whole } = await move('whole');
    expect([whole.code, whole.stderr]).toEqual([0, '']);
    const { counts, progress } = longResult<{ counts: object[] }>(whole);
    expect(progress).toMatch(moveProgress);
    expect(counts.length).toBeGreaterThan(10);
    // Each copy moves to databases with another prefix, so the prefix of this move is removed from the steps.
    const steps = progress
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(`${prefix}_whole_`, '_'));
    expect(steps.length).toBeGreaterThan(25);

    let resumed = 0;
    // Kills a move at every fourth step, and at the last step.
    for (const [index, step] of steps.entries()) {
      if (index % 4 !== 0 && index < steps.length - 1) continue;
      const { killed, ended } = await move(`k${index}`, step);
      // On a busy machine, the move can end before the kill. The output of the killed process shows whether this happened.
      if (ended.code === 1) {
        expect([step, ended.stderr]).toEqual([
          step,
          expect.stringContaining(`The data was moved to ${prefix}_k${index}_identity already.`),
        ]);
        expect(killed?.stderr).toContain(steps.at(-2));
        continue;
      }
      expect([step, killed?.code, ended.code, ended.stderr]).toEqual([step, null, 0, '']);
      const result = longResult<{ counts: object[] }>(ended);
      expect(result.progress).toMatch(moveProgress);
      expect([step, result.counts]).toEqual([step, counts]);
      resumed++;
    }
    // Some kills can come after the end of the move. So not every move is resumed.
    expect(resumed).toBeGreaterThan(5);
  }, 300_000);
});
