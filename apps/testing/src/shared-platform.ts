import { join } from 'node:path';
import type { EngineKind } from './engine-kinds.ts';
import { type Engines, startEngines } from './engines.ts';
import { EventRecord } from './event-record.ts';
import { startPlatform, type TestPlatform, withProject } from './platform.ts';
import { sizesOfLogs } from './platform-logs.ts';
import { watchNats } from './watch-events.ts';

/** How others than its starter reach a platform; sent as JSON. */
export interface SharedPlatform {
  url: string;
  operatorToken: string;
  secret: string;
  prefix: string;
  internalUrls: readonly string[];
  /** Its logs are in `logs/` below. */
  folder: string;
}

/** Environment of a shared platform: limits are counted and announced, but no suite reaches one. */
export const sharedEnv = { RATE_LIMIT_SCALE: '1000' };

/**
 * Gives a platform with a project of the caller's own. On real engines it is the platform that the files of this worker of the test
 * runner share; the runner's desk at KITH_TEST_DESK gives it. Without a desk, and on `embedded`, the caller gets a platform of its
 * own. A shared platform has no `processes`: a suite that stops and kills them starts its own platform. Disposing a shared one leaves
 * it running.
 */
export async function sharedPlatform(engine: EngineKind): Promise<TestPlatform> {
  const desk = process.env.KITH_TEST_DESK;
  if (engine === 'embedded' || !desk) return startPlatform({ engine, env: sharedEnv });
  const answer = await fetch(`${desk}/platforms/${process.env.VITEST_POOL_ID ?? 1}`, { method: 'POST' });
  if (!answer.ok) throw new Error(`No platform could be had: ${await answer.text()}`);
  const { folder, prefix, operatorToken, secret, ...platform } = (await answer.json()) as SharedPlatform;
  await using ending = new AsyncDisposableStack();
  const engines: Engines = ending.use(await startEngines());
  const record = new EventRecord();
  const logsFrom = await sizesOfLogs(join(folder, 'logs'));
  ending.use(await watchNats(engines.natsUrl, prefix, record));
  const place = { operatorToken, secret, prefix, folder, record, logsFrom };
  return await withProject({ platform, engines, ...place }, ending);
}
