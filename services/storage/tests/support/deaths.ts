import {
  type BlobHomeKind,
  type Death,
  dieBeforeEachWrite,
  type EngineKind,
  runUntilDeath,
  waitFor,
} from '@kith/testing';
import { expect } from 'vitest';
import { blobKey, type Owner } from '../../src/file.ts';
import type { DyingWork } from './dying-child.ts';
import { createPlace, type Held } from './place.ts';
import { someone, World } from './world.ts';

const child = new URL('./dying-child.ts', import.meta.url);

export interface DyingPlace {
  engine: EngineKind;
  home: BlobHomeKind;
}

/** What a dying process does, and what has to be true afterwards. */
export interface DyingAct {
  act: DyingWork['act'];
  /** How many bytes to upload. */
  size?: number;
  /** Prepares what has to exist before the act. */
  prepare?(world: World, owner: Owner): Promise<{ fileId: string } | undefined>;
  /** Repeats the act of the dying process, with the service that is started after the death. */
  again?(world: World, owner: Owner): Promise<void>;
  /** Checks the stored data at the end, while a service runs. */
  check(world: World, after: { death: Death; held: Held; owner: Owner }): Promise<void>;
}

/**
 * Runs an act in many processes. The first dies before its first step, the next before its second step, and so on, until a
 * process survives all steps. Each process has its own store and its own bytes.
 */
export async function dieAtEachStep(act: DyingAct, place: DyingPlace): Promise<void> {
  const deaths = await dieBeforeEachWrite((number) => dieAt(act, { ...place, number }));
  expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
  expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
}

/** Makes a process die before a step, then starts a service, which has to complete or remove what the process has left. */
async function dieAt(
  { act, size, prepare, again, check }: DyingAct,
  { engine, home, number }: DyingPlace & { number: number },
): Promise<Death> {
  await using place = await createPlace(engine, home);
  await using world = await World.start(engine, { place });
  const owner = someone();
  const prepared = await prepare?.(world, owner);
  await world.stop();
  const work: DyingWork = { ...place.config, ...owner, ...prepared, act, number, ...(size && { size }) };
  const death = await runUntilDeath(child, work);
  // If an account has ended, its bytes need no notes. The erasure finds the bytes by the user's mark.
  if (act !== 'erase') expectNoted(await place.held(owner));
  // With these times, the service removes the bytes of a dead process immediately, and not only after some time.
  await world.serve({ sweepEveryMs: 20, looseMs: 0, incompleteMs: 0 });
  await again?.(world, owner);
  const held = await waitFor(
    async () => {
      const now = await place.held(owner);
      if (!isInOrder(now)) throw new Error(JSON.stringify(now));
      return now;
    },
    { what: 'order after a death' },
  );
  await world.serve();
  await check(world, { death, held, owner });
  return death;
}

/** Expects that all bytes belong to a file or have a note. */
function expectNoted({ keys, loose, rows }: Held): void {
  const known = new Set([...loose.map(({ fileId }) => fileId), ...rows.map(({ id }) => id)]);
  expect(keys.filter((key) => !known.has(key.split('/')[2] ?? ''))).toEqual([]);
}

/** Whether all notes are gone, and exactly the bytes that belong to the rows are stored. */
function isInOrder({ rows, keys, loose, unfinished }: Held): boolean {
  const expected = rows.flatMap((row) => [
    blobKey(row),
    ...Object.keys(row.image?.variants ?? {}).map((name) => blobKey(row, name)),
  ]);
  const isWhole = JSON.stringify(keys) === JSON.stringify(expected.toSorted());
  return loose.length === 0 && unfinished === 0 && isWhole;
}

/** Expects that the account and the project's usage contain the numbers that follow from the rows. */
export function expectCounted({ files, bytes, projectBytes, rows }: Held): void {
  const sum = rows.reduce((all, row) => all + row.bytes, 0);
  expect([files, bytes, projectBytes]).toEqual([rows.length, sum, sum]);
}

/**
 * Returns the events that the service has published so far. First it uploads one more file. When the event of this file has
 * arrived, all earlier events have arrived, too.
 */
export async function toldSoFar(world: World, owner: Owner): Promise<string[]> {
  const last = await world.file(owner, Buffer.from('the last'));
  await waitFor(() => world.events.some(({ data }) => data.fileId === last), { what: 'the last event' });
  const seqs = world.events.map(({ aggregate }) => aggregate.seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  const before = world.events.filter(({ data }) => data.fileId !== last);
  return before.map(({ type, data }) => `${type} ${data.fileId}`);
}
