import { readConfig } from '@kith/base';
import type { Bus } from '@kith/bus';
import { startCollections } from '@kith/collections';
import { startConnections } from '@kith/connections';
import { gatewayConfig, startGateway } from '@kith/gateway';
import { startIdentity } from '@kith/identity';
import { startNotifications } from '@kith/notifications';
import { caller } from '@kith/platform';
import type { RunningService } from '@kith/service';
import {
  createPeople,
  createRuntime,
  createStore,
  type EngineKind,
  type People,
  testSecrets,
} from '@kith/testing';
import { operatorToken } from './auth-world.ts';
import { startStorageHere } from './storage-service.ts';

/** Gateway and services in this process, on one bus. So a test can end a service between two requests. */
export interface ExportWorld extends People, AsyncDisposable {
  url: string;
  bus: Bus;
  services: Record<'identity' | 'connections' | 'collections' | 'notifications' | 'storage', RunningService>;
}

/** @param options.before The gateway waits for this function before each of its requests to a service. */
export async function startExportWorld(
  engine: EngineKind,
  options: { before: (subject: string, body: Uint8Array) => Promise<void> },
): Promise<ExportWorld> {
  await using undo = new AsyncDisposableStack();
  const runtime = undo.use(await createRuntime(engine));
  const store = async () => undo.use(await createStore(engine)).config;
  const services = {
    identity: undo.use(await startIdentity(runtime, { store: await store(), secrets: testSecrets })),
    connections: undo.use(await startConnections(runtime, { store: await store() })),
    collections: undo.use(await startCollections(runtime, { store: await store() })),
    notifications: undo.use(await startNotifications(runtime, { store: await store() })),
    storage: undo.use(await startStorageHere(runtime, await store())),
  };
  const gateway = undo.use(
    await startGateway({
      runtime: { ...runtime, bus: watched(runtime.bus, options.before) },
      config: readConfig(gatewayConfig, { PORT: '0', RATE_LIMIT_SCALE: '0', OPERATOR_TOKEN: operatorToken }),
      limiterStore: { kind: 'memory' },
      exportTimes: { retry: [10, 10] },
    }),
  );
  const { url } = gateway;
  const kept = undo.move();
  return {
    ...createPeople(caller(url), operatorToken),
    url,
    bus: runtime.bus,
    services,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Returns the same bus, but each request first waits for `before`. */
function watched(bus: Bus, before: (subject: string, body: Uint8Array) => Promise<void>): Bus {
  return new Proxy(bus, {
    get(target, name) {
      if (name === 'request') {
        return async (...asked: Parameters<Bus['request']>) => {
          await before(asked[0], asked[1].body);
          return target.request(...asked);
        };
      }
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
