import { Relay } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import type { EngineKind } from '@kith/testing';
// `dying-eraser.ts`, which tests start as a process of its own, imports this file. If this file imported the whole test kit,
// the start of that process would be twice as much work.
import { createRuntime, createStore, testSecrets } from '@kith/testing/parts';
import type { AppContext } from '../../src/app.ts';
import { Attempts } from '../../src/attempts.ts';
import { ErasedExternals } from '../../src/erased-externals.ts';
import { ErasureList } from '../../src/erasure-list.ts';
import { Notices } from '../../src/notices.ts';
import { Passwords } from '../../src/passwords.ts';
import { openStore } from '../../src/store/index.ts';
import { AccessTokens } from '../../src/tokens/access-tokens.ts';
import { SigningKeys } from '../../src/tokens/signing-keys.ts';
import { withHashKey } from '../../src/tokens/with-hash-key.ts';

/**
 * Makes the context that handlers get, so that tests can call single parts of identity. The context has its own bus. If `given`
 * is left out, it also has its own store.
 */
export async function makeApp(
  engine: EngineKind,
  undo: AsyncDisposableStack,
  given?: StoreConfig,
): Promise<AppContext> {
  const { bus, log, metrics } = undo.use(await createRuntime(engine));
  const config = given ?? undo.use(await createStore(engine)).config;
  const store = undo.adopt(await openStore(config), (opened) => opened.close());
  const keys = await SigningKeys.open(store.keys, testSecrets);
  const secrets = await withHashKey(testSecrets, store.hashKeys);
  return {
    bus,
    store,
    epoch: 0,
    restoredAt: 0,
    tokens: new AccessTokens(keys, { issuer: 'kith', audience: 'kith.dev' }),
    keys,
    secrets,
    relay: undo.adopt(new Relay({ bus, outbox: store.outbox, log, metrics }), (one) => one.stop()),
    passwords: new Passwords(),
    now: () => new Date(),
    postman: { isThere: false, kick() {} },
    notices: new Notices(bus, log),
    attempts: new Attempts({ store: store.attempts, secrets }),
    erasures: await ErasureList.open(),
    erasedExternals: new ErasedExternals(store.erasure, secrets),
    tokenAudience: 'kith.dev',
  };
}
