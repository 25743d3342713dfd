import { join } from 'node:path';
import type { EngineKind } from './engine-kinds.ts';
import { type Engines, startEngines } from './engines.ts';
import { EventRecord } from './event-record.ts';
import { startPlatform, type TestPlatform, withProject } from './platform.ts';
import { sizesOfLogs } from './platform-logs.ts';
import { watchNats } from './watch-events.ts';

/** How a process reaches a platform that another process has started. The object is sent as JSON. */
export interface SharedPlatform {
  url: string;
  operatorToken: string;
  secret: string;
  prefix: string;
  internalUrls: readonly string[];
  /** The platform's folder. Its logs are in the subfolder `logs/`. */
  folder: string;
}

/** The environment of a shared platform. Limits are counted and announced, but no suite reaches a limit. */
export const sharedEnv = { RATE_LIMIT_SCALE: '1000' };

/**
 * Returns a platform with a new project for the caller. On real engines, all test files of one worker share a platform. The
 * test runner provides the shared platform, at the address KITH_TEST_DESK. Without this address, and on `embedded`, the caller
 * gets a platform of its own. A shared platform has no `processes`, so a suite that stops or kills processes starts its own
 * platform. Disposing a shared platform leaves it running.
 */
export async function sharedPlatform(engine: EngineKind): Promise<TestPlatform> {
  const desk = process.env.KITH_TEST_DESK;
  if (engine === 'embedded' || !desk) return startPlatform({ engine, env: sharedEnv });
  const answer = await fetch(`${desk}/platforms/${process.env.VITEST_POOL_ID ?? 1}`, { method: 'POST' });
  if (!answer.ok) throw new Error(`The test runner provided no platform: ${await answer.text()}`);
  const { folder, prefix, operatorToken, secret, ...platform } = (await answer.json()) as SharedPlatform;
  await using ending = new AsyncDisposableStack();
  const engines: Engines = ending.use(await startEngines());
  const record = new EventRecord();
  const logsFrom = await sizesOfLogs(join(folder, 'logs'));
  ending.use(await watchNats(engines.natsUrl, prefix, record));
  const place = { operatorToken, secret, prefix, folder, record, logsFrom };
  return await withProject({ platform, engines, ...place }, ending);
}
