// Starts no platform and at most 2 processes.
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { availableEngines, startEngines } from '../src/index.ts';

const run = promisify(execFile);

it.skipIf(!availableEngines().includes('containers'))(
  'a platform trusts the authority that the process of the suite trusts',
  async () => {
    await using ending = new AsyncDisposableStack();
    const engines = ending.use(await startEngines());
    const folder = await mkdtemp(join(tmpdir(), 'kith-private-authority-'));
    ending.defer(() => rm(folder, { recursive: true }));
    // The certificate is self-signed, so it is also the authority that clients have to trust.
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'authority.pem')];
    const made = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '9',
    ];
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    await run('openssl', [...made, '-keyout', key, '-out', cert, ...names]);

    const { hostname, port } = new URL(engines.mongodbUrl);
    const front = createServer({ key: await readFile(key), cert: await readFile(cert) }, (socket) => {
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
        NODE_EXTRA_CA_CERTS: cert,
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
