import { operations } from '@kith/contracts';
import { type EngineKind, startPlatform, type TestPlatform } from '@kith/testing';
import type { World } from './control.ts';
import { FaultyProxy } from './proxy.ts';
import { serveControl } from './serve-control.ts';

/** No limit but one, which is soon reached and soon over. */
const limits = {
  ...Object.fromEntries(operations.map(({ name }) => [name, null])),
  'identity.check-username': { max: 3, windowSeconds: 2 },
};

/** A platform behind a proxy. */
export interface ClientWorld extends World, AsyncDisposable {
  platform: TestPlatform;
  proxy: FaultyProxy;
}

export async function startWorld(engine: EngineKind): Promise<ClientWorld> {
  await using undo = new AsyncDisposableStack();
  const env = { RATE_LIMIT_SCALE: '1', RATE_LIMITS: JSON.stringify(limits) };
  const platform = undo.use(await startPlatform({ engine, env }));
  const proxy = undo.use(await FaultyProxy.start(platform.url));
  const { id: projectId } = await platform.createProject();
  const kept = undo.move();
  return {
    url: proxy.url,
    projectId,
    platform,
    proxy,
    control: serveControl(platform, projectId, proxy),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
