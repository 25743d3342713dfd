import type { Logger } from '@kith/base';
import type { Bus } from '@kith/bus';
import type { RunningService, ServiceRuntime } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { createRuntime, createStore, type EngineKind, testSecrets } from '@kith/testing';
import { type IdentityOptions, startIdentity } from '../../src/index.ts';

export interface TestIdentity extends AsyncDisposable {
  bus: Bus;
  runtime: ServiceRuntime;
  service: RunningService;
  store: StoreConfig;
}

/** Starts identity on a bus and a store of its own. */
export async function startTestIdentity(
  engine: EngineKind,
  options: { log?: Logger } & Partial<Omit<IdentityOptions, 'store'>> = {},
): Promise<TestIdentity> {
  await using undo = new AsyncDisposableStack();
  const place = undo.use(await createStore(engine));
  const created = undo.use(await createRuntime(engine));
  const { log = created.log, ...others } = options;
  const runtime = { ...created, log };
  const service = undo.use(
    await startIdentity(runtime, { secrets: testSecrets, ...others, store: place.config }),
  );
  const kept = undo.move();
  return {
    bus: runtime.bus,
    runtime,
    service,
    store: place.config,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
