import { createLogger, Turns } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import type { OperationSpec } from '@kith/contracts';
import type { OperationRequest } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { dieBeforeWrite } from '@kith/testing/die-before-write';
import { addEntity } from '../../src/operations/add-entity.ts';
import { createSubCollection } from '../../src/operations/create-sub-collection.ts';
import { deleteCollection } from '../../src/operations/delete.ts';
import { removeEntity } from '../../src/operations/remove-entity.ts';
import { openStore } from '../../src/store/index.ts';

/** The child's task: what to do, and the number of a write. Just before this write, the child has to die. */
export interface DyingWork {
  store: StoreConfig;
  projectId: string;
  userId: string;
  act: 'add' | 'take' | 'create' | 'delete' | 'purge';
  collectionId: string;
  entityId?: string;
  dieBeforeWrite: number;
}

const work: DyingWork = JSON.parse(process.argv[2] ?? '{}');
const store = await openStore(work.store);
const log = createLogger({ name: 'child', level: 'silent' });
const bus = new InProcessBus({ prefix: 'child', file: ':memory:', log });
dieBeforeWrite(work.dieBeforeWrite);

const handlers = {
  add: addEntity,
  take: removeEntity,
  create: createSubCollection,
  delete: deleteCollection,
};
if (work.act === 'purge') {
  while (await store.purge());
} else {
  const { projectId, userId, collectionId, entityId = '' } = work;
  const request = {
    projectId,
    caller: { userId, sessionId: userId, role: 'visitor' },
    params: { collectionId, entityId },
    body: { entityId, collectionName: 'x' },
    deadline: Date.now() + 20_000,
  };
  const app = { store, bus, relay: { kick: () => undefined }, turns: new Turns() };
  await handlers[work.act].handle(request as unknown as OperationRequest<OperationSpec>, app);
  process.stdout.write('acknowledged');
}
await store.close();
