import { createLogger, Metrics } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { services, storingNames } from '@kith/platform';
import { startByManifest } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { createStore, type EngineKind, uniquePrefix } from '@kith/testing';

/** Where each storing service keeps its data. */
export type Stores = Readonly<Record<string, StoreConfig>>;

const config = {
  TOKEN_ISSUER: 'kith',
  TOKEN_AUDIENCE: 'kith.dev',
  NOTIFICATION_DAYS: 90,
  KITH_SECRET: 'the secret of services whose processes die',
};

/** Makes a store for each storing service. Disposing `undo` erases the stores. */
export async function makeStores(engine: EngineKind, undo: AsyncDisposableStack): Promise<Stores> {
  const made: Record<string, StoreConfig> = {};
  for (const name of storingNames) made[name] = undo.use(await createStore(engine)).config;
  return made;
}

/**
 * Starts every service that stores data, in this process on a bus of its own. If `isDeaf` is true, these services publish no events.
 */
export async function startServices(stores: Stores, { isDeaf = false } = {}) {
  await using undo = new AsyncDisposableStack();
  const log = createLogger({ name: 'test', level: process.env.KITH_TEST_LOG || 'silent' });
  const bus = new InProcessBus({ prefix: uniquePrefix(), file: ':memory:', log });
  undo.defer(() => bus.close());
  if (isDeaf)
    bus.publish = () =>
      Promise.reject(new Error('Another process publishes the events that are stored here.'));
  const runtime = { bus, log, metrics: new Metrics(), nodeEnv: 'test' as const };
  for (const manifest of services) {
    const store = stores[manifest.name];
    if (manifest.stores && store) undo.use(await startByManifest(manifest, runtime, { config, store }));
  }
  const kept = undo.move();
  return { bus, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
