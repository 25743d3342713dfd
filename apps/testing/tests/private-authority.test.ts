// Starts no platform and at most 2 processes.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { availableEngines, selfSigned, startEngines } from '../src/index.ts';

it.skipIf(!availableEngines().includes('containers'))(
  'a platform trusts the authority that the process of the suite trusts',
  async () => {
    await using ending = new AsyncDisposableStack();
    const engines = ending.use(await startEngines());
    const folder = await mkdtemp(join(tmpdir(), 'kith-private-authority-'));
    ending.defer(() => rm(folder, { recursive: true }));
    const { authority, ...credentials } = await selfSigned(folder);
    const { hostname, port } = new URL(engines.mongodbUrl);
    const front = createServer(credentials, (socket) => {
      const behind = connect(Number(port), hostname);
      socket.pipe(behind).pipe(socket);
      socket.on('error', () => behind.destroy());
      behind.on('error', () => socket.destroy());
    });
    front.listen(0, 'localhost');
    await once(front, 'listening');
    ending.defer(() => void front.close());
    const mongo = new URL(engines.mongodbUrl);
    mongo.host = `localhost:${(front.address() as AddressInfo).port}`;
    mongo.searchParams.set('tls', 'true');

    const child = fork(fileURLToPath(new URL('support/platform-child.ts', import.meta.url)), ['containers'], {
      env: {
        ...process.env,
        ...{ MONGODB_URL: mongo.href, NATS_URL: engines.natsUrl, REDIS_URL: engines.redisUrl },
        NODE_EXTRA_CA_CERTS: authority,
      },
      execPath: process.execPath,
      execArgv: [],
    });
    const exited = once(child, 'exit');
    ending.defer(async () => {
      child.kill('SIGTERM');
      await exited;
    });
    const [told] = await Promise.race([once(child, 'message'), exited]);
    expect(told).toMatchObject({ userId: expect.any(String) });
  },
  90_000,
);
