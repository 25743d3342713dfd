import { randomUUID } from 'node:crypto';
import { Turns } from '@kith/base';
import { createProject, signUp } from '@kith/contracts';
import { startIdentity } from '@kith/identity';
import { callOperation, createRuntime, createStore, handlerEngines, testSecrets } from '@kith/testing';
import { expect, test } from 'vitest';
import type { AppContext } from '../src/app.ts';
import { importEntities } from '../src/operations/import-entities.ts';
import { openStore } from '../src/store/index.ts';

test.each(handlerEngines())('concurrent imports into one collection take turns (%s)', async (engine) => {
  await using ends = new AsyncDisposableStack();
  const runtime = ends.use(await createRuntime(engine));
  const places = [ends.use(await createStore(engine)), ends.use(await createStore(engine))] as const;
  ends.use(await startIdentity(runtime, { store: places[0].config, secrets: testSecrets }));
  const store = ends.adopt(await openStore(places[1].config), (opened) => opened.close());
  const { bus } = runtime;
  const projectId = (await callOperation(bus, createProject, { body: { name: 'Test' } })).body.id as string;
  const body = { email: 'ann@example.org', password: 'correct horse' };
  const userId = (await callOperation(bus, signUp, { projectId, body })).body.user.id as string;

  const save = store.imports.save.bind(store.imports);
  let under = 0;
  const saving: number[] = [];
  store.imports.save = async (some) => {
    saving.push(++under);
    try {
      return await save(some);
    } finally {
      under--;
    }
  };
  const app: AppContext = { store, bus, relay: { kick: () => {} }, turns: new Turns() };
  const addedAt = '2020-01-02T03:04:05.678Z';
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, request) => {
      const rows = Array.from({ length: 50 }, (_, row) => ({
        ...{ userId, entityId: `${request}.${row}`, addedAt },
      }));
      const context = { requestId: randomUUID(), deadline: Date.now() + 60_000 };
      return importEntities.handle({ ...context, params: { projectId }, body: { rows } } as never, app);
    }),
  );
  expect(answers).toEqual(answers.map(() => ({ imported: 50, unchanged: 0, rejected: [] })));
  expect(saving).toEqual([1, 1, 1, 1]);
  expect((await store.root({ projectId, userId }))?.entityCount).toBe(200);
});
