import { readConfig } from '@kith/base';
import type { Bus } from '@kith/bus';
import { startCrypto } from '@kith/crypto';
import { gatewayConfig, type RunningGateway, startGateway } from '@kith/gateway';
import { type IdentityOptions, startIdentity } from '@kith/identity';
import { caller } from '@kith/platform';
import type { ServiceRuntime } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import {
  createPeople,
  createRuntime,
  createStore,
  type EngineKind,
  type People,
  testSecrets,
} from '@kith/testing';

export const operatorToken = 'the-operator';

/** Gateway, identity and crypto in this process, on one bus. Signing in needs no other service. */
export interface AuthWorld extends People, AsyncDisposable {
  url: string;
  runtime: ServiceRuntime;
  store: StoreConfig;
  /** Starts one more gateway. If a bus is given, the gateway uses this bus. */
  anotherGateway(bus?: Bus): Promise<RunningGateway>;
  /** Starts one more identity service on the same store. */
  anotherIdentity(): Promise<void>;
}

export async function startAuthWorld(
  engine: EngineKind,
  options: Partial<Omit<IdentityOptions, 'store'>> = {},
): Promise<AuthWorld> {
  await using undo = new AsyncDisposableStack();
  const runtime = undo.use(await createRuntime(engine));
  const { config: store } = undo.use(await createStore(engine));
  const anotherIdentity = async () => {
    kept.use(await startIdentity(runtime, { store, secrets: testSecrets, ...options }));
  };
  const anotherGateway = async (bus: Bus = runtime.bus) => {
    const env = { PORT: '0', RATE_LIMIT_SCALE: '0', OPERATOR_TOKEN: operatorToken };
    const config = readConfig(gatewayConfig, env);
    const gateway = await startGateway({
      runtime: { ...runtime, bus },
      config,
      limiterStore: { kind: 'memory' },
    });
    return kept.use(gateway);
  };
  let kept = undo;
  await anotherIdentity();
  undo.use(await startCrypto(runtime, { allowTestTokens: true, tokenAudience: 'kith.dev' }));
  const { url } = await anotherGateway();
  kept = undo.move();
  return {
    ...createPeople(caller(url), operatorToken),
    url,
    runtime,
    store,
    anotherGateway,
    anotherIdentity,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
