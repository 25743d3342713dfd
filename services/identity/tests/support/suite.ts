import type { StoreConfig } from '@kith/store';
import { createStore, type EngineKind } from '@kith/testing';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type IdentityStore, openStore } from '../../src/store/index.ts';
import { startTestIdentity, type TestIdentity } from './identity.ts';
import { makeProject } from './people.ts';

/** Starts identity before the tests of a suite, with a project, and ends it after them. */
export function startForSuite(
  engine: EngineKind,
  use: (identity: TestIdentity, projectId: string) => void,
): void {
  let identity: TestIdentity;
  beforeAll(async () => {
    identity = await startTestIdentity(engine);
    use(identity, await makeProject(identity.bus));
  });
  afterAll(() => identity[Symbol.asyncDispose]());
}

/** Opens a new store before each test of a suite, and closes it afterwards. A test may open the store a second time. */
export function storeForEach(
  engine: EngineKind,
  use: (store: IdentityStore) => void,
): { config(): StoreConfig; reopen(): Promise<void> } {
  let place: { config: StoreConfig } & AsyncDisposable;
  let store: IdentityStore;
  const open = async () => {
    store = await openStore(place.config);
    use(store);
  };
  beforeEach(async () => {
    place = await createStore(engine);
    await open();
  });
  afterEach(async () => {
    await store.close();
    await place[Symbol.asyncDispose]();
  });
  return {
    config: () => place.config,
    async reopen() {
      await store.close();
      await open();
    },
  };
}
