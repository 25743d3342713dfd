import { createLogger, Metrics } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { type ServiceManifest, startByManifest } from '@kith/service';
import type { StoreConfig } from '@kith/store';
// The processes that die in the tests import this file. If this file imported the whole test kit, these processes would have
// twice as much work at their start.
import { uniquePrefix } from '@kith/testing/parts';

/** Where each storing service keeps its data. */
export type Stores = Readonly<Record<string, StoreConfig>>;

const config = {
  TOKEN_ISSUER: 'kith',
  TOKEN_AUDIENCE: 'kith.dev',
  NOTIFICATION_DAYS: 90,
  KITH_SECRET: 'the secret of services whose processes die',
};

/**
 * Starts the services of the given stores, in this process on a bus of its own. If `isDeaf` is true, these services publish no
 * events.
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
  for (const [name, store] of Object.entries(stores)) {
    const { manifest }: { manifest: ServiceManifest } = await import(`@kith/${name}`);
    undo.use(await startByManifest(manifest, runtime, { config, store }));
  }
  const kept = undo.move();
  return { bus, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
