// Starts no platform and at most 3 processes.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createLogger, Secrets } from '@kith/base';
import type { Intake } from '@kith/bus';
import { blockUser, getFile, getJwks, updateProject } from '@kith/contracts';
import {
  canonicalPath,
  downloadHandler,
  handler,
  operationHeader,
  Sweeper,
  signContext,
  startService,
} from '@kith/service';
import { replyCollection } from '@kith/store';
import { openDocuments } from '@kith/store/open';
import { createRuntime, createStore, waitFor } from '@kith/testing';
import { expect, test } from 'vitest';

const log = createLogger({ name: 'test', level: 'silent' });

test('a stopping service ends its background work first, and then its store', async () => {
  await using runtime = await createRuntime('embedded');
  const order: string[] = [];
  const background = ['relay', 'sweep'].map((name) => ({ stop: async () => void order.push(name) }));
  const close = async () => void order.push('store');
  const service = await startService(
    runtime,
    { name: 'test', operations: {} },
    { app: undefined, background, close },
  );
  await Promise.all([service.stop(), service.stop()]);
  expect(order).toEqual(['relay', 'sweep', 'store']);
  expect(await service.notReady()).toContain('stopping');
});

test('a stopping service ends all its parts even if an intake cannot be drained, and logs the error', async () => {
  await using runtime = await createRuntime('embedded');
  const lines: { msg: string; err?: { message: string } }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const order: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const intakes = [
    { drain: () => Promise.reject(new Error('no connection')) },
    { drain: () => gate.then(() => void order.push('work')) },
  ];
  runtime.bus.serve = async () => intakes.shift() as Intake;
  const service = await startService(
    { ...runtime, log: createLogger({ name: 'test', level: 'error', destination }) },
    { name: 'test', operations: { one: handler(getJwks, never), two: handler(getJwks, never) } },
    {
      app: undefined,
      background: [{ stop: async () => void order.push('relay') }],
      close: async () => void order.push('store'),
    },
  );
  const stopped = service.stop();
  await waitFor(() => lines.length > 0, { what: 'the error' });
  open();
  await stopped;
  expect(order).toEqual(['work', 'relay', 'store']);
  expect(lines).toMatchObject([{ err: { message: 'no connection' } }]);
});

test('a starting service does not wait for one operation after the other', async () => {
  await using runtime = await createRuntime('embedded');
  const operations = { one: handler(getJwks, never), two: handler(blockUser, never) };
  const { promise: all, resolve: asked } = Promise.withResolvers<void>();
  const { bus } = runtime;
  const serve = bus.serve.bind(bus);
  const subjects: string[] = [];
  bus.serve = async (...args) => {
    if (subjects.push(args[0]) === Object.keys(operations).length) asked();
    await all;
    return serve(...args);
  };
  await using _service = await startService(runtime, { name: 'test', operations }, { app: undefined });
  expect(subjects).toHaveLength(2);
});

test('all sweeps are stopped at the same time, and the relay is stopped last', async () => {
  await using runtime = await createRuntime('embedded');
  const order: string[] = [];
  const { promise: hangs, resolve: goOn } = Promise.withResolvers<void>();
  const background = [
    { stop: () => hangs.then(() => void order.push('hanging sweep')) },
    { stop: async () => void order.push('sweep') },
    { stop: async () => void order.push('relay') },
  ];
  const service = await startService(
    runtime,
    { name: 'test', operations: {} },
    { app: undefined, background },
  );
  const stopped = service.stop();
  // This wait is shorter than the time that a stop gives to a hanging sweep. So the other sweep has not waited for the hanging
  // sweep.
  await waitFor(() => order.length > 0, { timeoutMs: 4_000, what: 'the other sweep' });
  expect(order).toEqual(['sweep']);
  goOn();
  await stopped;
  expect(order).toEqual(['sweep', 'hanging sweep', 'relay']);
});

test('a draining service with uploads or downloads is not ready, continues to serve, and answers with `Connection: close`', async () => {
  await using runtime = await createRuntime('embedded');
  const secrets = new Secrets('a secret of at least 32 characters');
  const empty = { status: 200, headers: { 'Content-Length': '0' } } as const;
  const streams = { 'get-file': downloadHandler(getFile, async () => empty) as never };
  await using service = await startService(
    runtime,
    { name: 'test', operations: {}, streams },
    { app: undefined, http: { host: '127.0.0.1', port: 0, secrets, drainMs: 1 } },
  );
  const drained = service.drain?.();
  expect(await service.notReady()).toEqual(['stopping']);
  await drained;
  const context = { projectId: crypto.randomUUID(), params: { fileId: crypto.randomUUID() } };
  const path = canonicalPath(getFile, context);
  const signed = signContext(secrets, { method: 'GET', path, operation: getFile.name }, context);
  const headers = { ...signed, [operationHeader]: getFile.name };
  const [answer] = await once(get(`${service.httpUrl}${path}`, { headers }), 'response');
  expect([answer.statusCode, answer.headers.connection]).toEqual([200, 'close']);
  answer.resume();
});

test('a stopping sweeper waits for its running work, and starts no further work', async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const order: string[] = [];
  const work = async (isStopped: () => boolean) => {
    order.push(`stopped: ${isStopped()}`);
    begin();
    await gate;
    order.push('worked', `stopped: ${isStopped()}`);
  };
  const sweeper = new Sweeper(work, { everyMs: 1, log });
  await begun;
  const stopped = sweeper.stop().then(() => order.push('stopped'));
  // A stop that does not wait would have ended by now.
  await new Promise(setImmediate);
  open();
  await stopped;
  expect(order).toEqual(['stopped: false', 'worked', 'stopped: true', 'stopped']);
});

test('a process whose stop hangs still ends', async () => {
  const path = fileURLToPath(new URL('lifecycle-support/hangs.ts', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: 'ignore' });
  expect(await once(child, 'exit')).toEqual([1, null]);
});

test('a process starts, and stops on SIGTERM, even if nobody reads its log', async () => {
  const path = fileURLToPath(new URL('lifecycle-support/logs-early.ts', import.meta.url));
  const child = spawn(process.execPath, [path], {
    ...{ stdio: ['ignore', 'pipe', 'inherit', 'ipc'], timeout: 60_000, killSignal: 'SIGKILL' },
  });
  child.stdout?.destroy();
  // The process sends this message when it is ready.
  child.once('message', () => child.kill('SIGTERM'));
  expect(await once(child, 'exit')).toEqual([0, null]);
}, 90_000);

test('a process that has not started yet is alive and not ready, and SIGTERM ends it immediately', async () => {
  await using undo = new AsyncDisposableStack();
  const sockets: Socket[] = [];
  // Accepts connections and never answers, like a server that has not finished its start.
  const silent = createServer((socket) => void sockets.push(socket));
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port: natsPort } = silent.address() as AddressInfo;
  undo.defer(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  // This port is below the ports that the system gives to other programs. So no other test takes this port.
  const port = randomInt(20_000, 32_000);
  const path = fileURLToPath(new URL('lifecycle-support/starts-slowly.ts', import.meta.url));
  const env = {
    ...process.env,
    NATS_URL: `nats://127.0.0.1:${natsPort}`,
    INTERNAL_PORT: String(port),
    NODE_ENV: 'test',
  };
  const child = spawn(process.execPath, [path], { stdio: 'ignore', env });
  undo.defer(() => void child.kill('SIGKILL'));
  const ask = (at: string) => fetch(`http://127.0.0.1:${port}${at}`);
  await waitFor(async () => (await ask('/healthz')).status === 200, { what: 'a live process' });
  const ready = await ask('/readyz');
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', missing: ['starting'] }]);
  expect(await (await ask('/metrics')).text()).toContain('\nkith_ready 0\n');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

const never = async () => {
  throw new Error('not to be called');
};

test.each([
  [
    'does not start if it cannot store answers to requests with an idempotency key',
    blockUser,
    { replies: false, emits: ['audit'] as const },
    'replyCollection',
  ],
  [
    'does not start if it may not report changes by a server key to the audit log',
    blockUser,
    { replies: true },
    'add audit to emits',
  ],
  [
    'does not start if it may not report changes by an operator to the audit log',
    updateProject,
    { replies: false },
    'add audit to emits',
  ],
  ['starts if it only reads', getJwks, { replies: false }, undefined],
  [
    'starts if it has all parts that it needs',
    blockUser,
    { replies: true, emits: ['audit'] as const },
    undefined,
  ],
])('a service with a store %s', async (_, spec, { replies, ...uses }: Uses, missing) => {
  await using runtime = await createRuntime('embedded');
  await using place = await createStore('embedded');
  const documents = await openDocuments(place.config, { collections: replies ? [replyCollection] : [] });
  const manifest = { name: 'test', operations: { one: handler(spec, never) }, ...uses };
  const { outbox } = documents;
  const parts = { app: undefined, outbox, replies: documents.replies, close: () => documents.close() };
  const started = startService(runtime, manifest, parts).then((service) => service.stop());
  if (missing === undefined) return expect(await started).toBeUndefined();
  await expect(started).rejects.toThrow(missing);
  await documents.close();
});

interface Uses {
  replies: boolean;
  emits?: readonly ['audit'];
}
