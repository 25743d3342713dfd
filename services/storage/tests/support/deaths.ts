import {
  availableEngines,
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
import { createPlace, type Held, homeOf } from './place.ts';
import { someone, World } from './world.ts';

const child = new URL('./dying-child.ts', import.meta.url);

export interface DyingPlace {
  engine: EngineKind;
  home: BlobHomeKind;
}

/** What a process is to die at, and what has to hold of it. */
export interface DyingAct {
  act: DyingWork['act'];
  /** Bytes of an upload. */
  size?: number;
  /** What is there before. */
  prepare?(world: World, owner: Owner): Promise<{ fileId: string } | undefined>;
  /** What happens again to a service that comes after. */
  again?(world: World, owner: Owner): Promise<void>;
  /** Looks at what is there in the end, with a service that runs. */
  check(world: World, after: { death: Death; held: Held; owner: Owner }): Promise<void>;
}

/** Has processes die before each step of an act, each in a store and a home of its own, until one lives through all of them. */
export async function dieAtEachStep(act: DyingAct, place: DyingPlace): Promise<void> {
  const deaths = await dieBeforeEachWrite((number) => dieAt(act, { ...place, number }));
  expect(deaths.at(0)).toEqual({ killed: true, acknowledged: false });
  expect(deaths.at(-1)).toEqual({ killed: false, acknowledged: true });
}

/** Makes a process die before a step, then starts a service that has to put everything in order. */
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
  // The end of an account has a mark of its own, by which bytes are found.
  if (act !== 'erase') expectNoted(await place.held(owner));
  // What dead processes have left counts as old at once.
  await world.serve({ sweepEveryMs: 20, looseMs: 0 });
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

/** Expects that all bytes are of a file, or noted. */
function expectNoted({ keys, loose, rows }: Held): void {
  const known = new Set([...loose.map(({ fileId }) => fileId), ...rows.map(({ id }) => id)]);
  expect(keys.filter((key) => !known.has(key.split('/')[2] ?? ''))).toEqual([]);
}

/** Whether there is no note any more, and just the bytes of rows. */
function isInOrder({ rows, keys, loose, unfinished }: Held): boolean {
  const expected = rows.flatMap((row) => [
    blobKey(row),
    ...Object.keys(row.image?.variants ?? {}).map((name) => blobKey(row, name)),
  ]);
  const isWhole = JSON.stringify(keys) === JSON.stringify(expected.toSorted());
  return loose.length === 0 && unfinished === 0 && isWhole;
}

/** The engines with their homes of bytes. */
export const places: readonly DyingPlace[] = availableEngines().map((engine) => ({
  engine,
  home: homeOf(engine),
}));

/** Expects that account, sum and rows count the same. */
export function expectCounted({ files, bytes, projectBytes, rows }: Held): void {
  const sum = rows.reduce((all, row) => all + row.bytes, 0);
  expect([files, bytes, projectBytes]).toEqual([rows.length, sum, sum]);
}

/** What the events have told so far. One more file is uploaded: its event comes last, and tells how many came before. */
export async function toldSoFar(world: World, owner: Owner): Promise<string[]> {
  const last = await world.file(owner, Buffer.from('the last'));
  await waitFor(() => world.events.some(({ data }) => data.fileId === last), { what: 'the last event' });
  const seqs = world.events.map(({ aggregate }) => aggregate.seq);
  expect(seqs).toEqual(seqs.map((_, at) => at + 1));
  const before = world.events.filter(({ data }) => data.fileId !== last);
  return before.map(({ type, data }) => `${type} ${data.fileId}`);
}
