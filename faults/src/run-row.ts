import { setTimeout as sleep } from 'node:timers/promises';
import { check } from './check/check.ts';
import type { Crowd } from './load/load.ts';
import type { Outcome, Row } from './row.ts';
import type { Place } from './world/place.ts';

/** How long the load goes on after all processes are ready again, in ms. */
const metMs = 2_000;

/** How long all processes may take to be ready again, in ms. */
const patienceMs = 180_000;

/** Causes a row's fault under load. Then checks all acknowledged changes. */
export async function runRow<P extends Place>(
  row: Row<P>,
  stage: {
    world: P;
    crowd: Crowd;
    random: () => number;
    rate: number;
    times: number;
    before(): Promise<string>;
    progress: (line: string) => void;
  },
): Promise<Outcome> {
  const { world, crowd, random, rate, times, before, progress } = stage;
  const rest = (ms: number) => sleep(ms);
  const back = async (withinMs = patienceMs) => {
    await world.allReady(withinMs);
    await rest(metMs);
  };
  const record = crowd.begin(row.bears);
  const load = row.servesAll ? rate / 2 : rate;
  const end = crowd.load(load);
  let error: string | undefined;
  try {
    await rest(1_500);
    for (let time = 0; time < times; time++)
      await row.fault({ world, crowd, record, before, random, rest, back, progress }, time);
  } catch (failed) {
    error = `the fault: ${(failed as Error).stack}`;
  }
  const silence = await Promise.race([end().then(() => record.silence), sleep(60_000)]);
  const { requests, acknowledged, unanswered } = record;
  const readyMs = await world.allReady(patienceMs).catch((failed: Error) => {
    error ??= `${failed.message} ${(failed.cause as Error | undefined)?.message}`;
    return Number.NaN;
  });
  const { lost, doubled, after } = await check(crowd, world.log);
  const { wrong } = record;
  progress(record.statuses);
  return {
    ...{ row, times, rate: load, requests, acknowledged, unanswered, lost, doubled, wrong, readyMs },
    silence: silence ?? { ms: Number.POSITIVE_INFINITY, of: 'everything' },
    quietMs: after,
    ...(error && { error }),
  };
}
