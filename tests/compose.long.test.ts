// Quick counterpart: tests/outages.test.ts
// Starts at most 0 platforms and 60 processes.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { StartFile } from '@kith/platform';
import {
  type ComposeCommand,
  freePort,
  imageVariables,
  provideCompose,
  provideEngines,
} from '@kith/platform/engines';
import { availableEngines, uniquePrefix } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';
import { curlLines } from './support/start-script.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));

// With the images of this machine: the official ones where a registry is reachable, else those built offline.
describe.runIf(availableEngines().includes('containers'))('docker-compose', () => {
  const project = uniquePrefix();
  let compose: ComposeCommand;
  let folder: string;
  let url: string;

  const call = async (...words: string[]) => {
    const [program, ...first] = compose;
    const flags = ['-p', project, '--env-file', join(folder, 'images.env')];
    const options = { cwd: root, maxBuffer: 64 * 1024 * 1024, env: { ...process.env, DOCKER_BUILDKIT: '0' } };
    return (await run(program, [...first, ...flags, ...words], options)).stdout;
  };

  beforeAll(async () => {
    const found = await provideCompose();
    if (!found) throw new Error('There is no docker-compose: install it.');
    compose = found;
    const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
    const provided = await provideEngines({ env });
    if (provided.kind !== 'docker') throw new Error('docker-compose needs Docker.');
    folder = await mkdtemp(join(tmpdir(), 'kith-compose-'));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const variables = [imageVariables(provided.images), `IMAGE_PREFIX=${project}`, `PORT=${port}`];
    await writeFile(join(folder, 'images.env'), `${variables.join('\n')}\n`);
    await call('config', '-q');
    await call('build');
    await call('up', '-d', '--no-build');
  }, 600_000);

  afterAll(async () => {
    await call('down', '-v', '--timeout', '0');
    const { stdout } = await run('docker', ['images', '-q', '--filter', `reference=${project}-*`]);
    const images = [...new Set(stdout.split('\n').filter(Boolean))];
    if (images.length > 0) await run('docker', ['image', 'rm', '-f', ...images]);
    await rm(folder, { recursive: true, force: true });
  }, 120_000);

  it('serves the three requests', async () => {
    const token = (await call('exec', '-T', 'gateway', 'cat', '/etc/kith/self/operator-token')).trim();
    const { stdout } = await run(process.execPath, ['scripts/demo.ts'], {
      cwd: root,
      env: { ...process.env, KITH_URL: url, OPERATOR_TOKEN: token, KITH_DATA: join(folder, 'data') },
    });
    const answers = await Promise.all(curlLines(stdout).map((line) => run('bash', ['-c', line])));
    const [signed, renamed, listed] = answers.map((answer) => JSON.parse(answer.stdout));
    const start: StartFile = JSON.parse(await readFile(join(folder, 'data', 'start.json'), 'utf8'));
    expect(signed).toEqual({ token: expect.any(String) });
    expect(renamed).toMatchObject({ id: start.collectionId, name: 'Books to read' });
    expect(listed.connections).toMatchObject([{ connectedUser: { id: start.users[1]?.id } }]);
  }, 120_000);

  it('serves the OpenAPI document and the reference page', async () => {
    const document = await http(url, { path: '/openapi.json' });
    expect(document.json()).toMatchObject({ openapi: '3.1.0' });
    for (const path of ['/docs', '/docs/errors', '/docs/swagger-ui.js']) {
      expect((await http(url, { path })).status).toBe(200);
    }
  });

  it('runs no service as root, and each with its own seed only', async () => {
    const services = ['gateway', 'identity', 'crypto', 'connections', 'collections', 'notifications'];
    const inside = (service: string) =>
      call('exec', '-T', service, 'sh', '-c', 'id -u && find /etc/kith -type f');
    const answers = await Promise.all(services.map(inside));
    for (const [i, answer] of answers.entries()) {
      const [user, ...files] = answer.trim().split('\n');
      expect(user).toBe('1000');
      const expected = services[i] === 'gateway' ? ['nkey', 'operator-token'] : ['nkey'];
      expect(files.sort()).toEqual(expected.map((file) => `/etc/kith/self/${file}`));
    }
  }, 60_000);

  it('lets one service be stopped and started again alone', async () => {
    const list = () => http(url, { path: '/v7/00000000-0000-0000-0000-000000000000/users/x' });
    expect((await list()).status).toBe(404);
    await call('stop', 'identity');
    expect((await list()).json()).toMatchObject({ code: 'gateway/unavailable' });
    await call('up', '-d', '--no-build', '--no-deps', '--scale', 'identity=2', 'identity');
    await expect.poll(async () => (await list()).status, { timeout: 30_000 }).toBe(404);
  }, 90_000);
});
