import { operations } from '@kith/contracts';
import { type EngineKind, startPlatform, type TestPlatform } from '@kith/testing';
import { createClient, type KithClient } from '../../src/index.ts';
import type { World } from './control.ts';
import { FaultyProxy } from './proxy.ts';
import { serveControl } from './serve-control.ts';

/** Of the operations for users, only `identity.check-username` has a limit: three requests in two seconds. */
const limits = {
  ...Object.fromEntries(operations.flatMap(({ name, auth }) => (auth === 'operator' ? [] : [[name, null]]))),
  'identity.check-username': { max: 3, windowSeconds: 2 },
};

/** One test's own faulty proxy to a platform. Other tests on the same platform do not notice its faults. */
export interface ClientWorld extends World, AsyncDisposable {
  /** Signs someone up; returns a client of that user. */
  clientOf(name?: string): Promise<KithClient>;
}

/** Starts a platform with the limits that the behaviours need. */
export const startLimited = (engine: EngineKind): Promise<TestPlatform> =>
  startPlatform({ engine, env: { RATE_LIMIT_SCALE: '1', RATE_LIMITS: JSON.stringify(limits) } });

/** Starts a proxy to a platform. Only the caller uses this proxy. */
export async function reach(platform: TestPlatform): Promise<ClientWorld> {
  const proxy = await FaultyProxy.start(platform.url);
  const { url } = proxy;
  const { id: projectId } = platform.project;
  const control = serveControl(platform, projectId, proxy);
  return {
    url,
    projectId,
    control,
    async clientOf(name) {
      return createClient({ url, projectId, session: (await control.person(name)).session, retries: 0 });
    },
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}
