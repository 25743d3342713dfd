import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger, Metrics, Turns } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { createFile, createImage, type OperationSpec, userDeleted } from '@kith/contracts';
import { makeEvent, type OperationRequest, startService } from '@kith/service';
import type { StoreConfig } from '@kith/store';
import { type BlobsConfig, openBlobs } from '@kith/store/blobs';
import { dieBeforeWrite } from '@kith/testing/die-before-write';
import { smallPng } from '../../../../tests/support/multipart.ts';
import type { AppContext } from '../../src/app.ts';
import { usersSubscription } from '../../src/erasure.ts';
import { Addresses, type Owner } from '../../src/file.ts';
import { Renderer } from '../../src/images/renderer.ts';
import { deleteFile } from '../../src/operations/delete-file.ts';
import * as streams from '../../src/operations/streams.ts';
import { Remover } from '../../src/remover.ts';
import { openStore } from '../../src/store/index.ts';
import { callerOf, secrets, upload } from './bytes-client.ts';

/** The child's task: what to do, and before which of its writes the child has to die. */
export interface DyingWork extends Owner {
  store: StoreConfig;
  blobs: BlobsConfig;
  draftFolder: string;
  act: 'file' | 'image' | 'delete' | 'remove' | 'erase';
  /** How many bytes to upload. All of them are zero. */
  size?: number;
  /** The file to delete. */
  fileId?: string;
  number: number;
}

const work: DyingWork = JSON.parse(process.argv[2] ?? '{}');
const { projectId, userId, draftFolder } = work;
const owner = { projectId, userId };
const log = createLogger({ name: 'child', level: 'silent' });
const bus = new InProcessBus({ prefix: 'child', file: ':memory:', log });
const [store, blobs] = [await openStore(work.store), await openBlobs(work.blobs)];
const turns = new Turns();
const remover = new Remover({ store, blobs, turns }, { everyMs: 3_600_000, log });
const app: AppContext = {
  ...{ store, blobs, bus, turns, draftFolder, remover, looseMs: 0, answerMs: 55_000 },
  relay: { kick: () => undefined },
  quotas: { projectBytes: 1e9, userBytes: 1e9 },
  renderer: new Renderer(),
  addresses: new Addresses(undefined),
};
const http = { host: '127.0.0.1', port: 0, secrets };
const runtime = { bus, log, metrics: new Metrics(), nodeEnv: 'test' as const };
const service = await startService(runtime, { name: 'storage', operations: {}, streams }, { app, http });
const url = service.httpUrl ?? '';

const uploaded = async (answer: ReturnType<typeof upload>) => {
  const status = (await answer)?.status;
  if (status !== 201) throw new Error(`The upload was answered with ${status}.`);
};
/** Resolves when there are no more bytes that have to be removed. */
async function isRemoved(): Promise<void> {
  while ((await store.due(Date.now(), 1)).length > 0) await nextTurn();
}
const acts: Record<DyingWork['act'], () => Promise<unknown>> = {
  file: () => uploaded(upload(url, createFile, owner, Buffer.alloc(work.size ?? 0))),
  image: () => uploaded(upload(url, createImage, owner, smallPng, [{ name: 'sizes', value: '{"small":8}' }])),
  async delete() {
    const request = { projectId, caller: callerOf(userId), params: { fileId: work.fileId } };
    await deleteFile.handle(request as unknown as OperationRequest<OperationSpec>, app);
  },
  async remove() {
    remover.kick();
    await isRemoved();
  },
  async erase() {
    const aggregate = { type: 'user', id: userId, seq: 2 };
    const common = { projectId, actorId: userId, aggregate, occurredAt: new Date() };
    await usersSubscription.apply(makeEvent(userDeleted, { ...common, data: { id: userId } }) as never, app);
  },
};

dieBeforeWrite(work.number, { bytes: true });
await acts[work.act]();
process.stdout.write('acknowledged');
await isRemoved();
await remover.stop();
await service.stop();
await blobs.close();
await store.close();
