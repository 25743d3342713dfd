// Quick counterpart: tests/outages.test.ts
// Starts at most 0 platforms and 60 processes.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type StartFile, serviceNames } from '@kith/platform';
import { availableEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from './support/command.ts';
import { type ComposeProject, startComposeProject } from './support/compose-project.ts';
import { http } from './support/http.ts';
import { curlLines } from './support/start-script.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));

describe.runIf(availableEngines().includes('containers'))('docker-compose', () => {
  let project: ComposeProject;
  beforeAll(async () => {
    project = await startComposeProject();
  }, 600_000);
  afterAll(() => project?.[Symbol.asyncDispose](), 120_000);

  it('serves the request of `kith demo`', async () => {
    const token = (
      await project.call('exec', '-T', 'gateway', 'cat', '/etc/kith/self/operator-token')
    ).trim();
    const { stdout } = await run(process.execPath, [main, 'demo'], {
      cwd: root,
      env: {
        ...process.env,
        KITH_URL: project.url,
        OPERATOR_TOKEN: token,
        KITH_DATA: join(project.folder, 'data'),
      },
    });
    const [line = ''] = curlLines(stdout);
    const listed = JSON.parse((await run('bash', ['-c', line])).stdout);
    const start: StartFile = JSON.parse(await readFile(join(project.folder, 'data', 'start.json'), 'utf8'));
    expect(listed.connections).toMatchObject([{ connectedUser: { id: start.users[1]?.id } }]);
  }, 120_000);

  it('serves the OpenAPI document and the reference page', async () => {
    const document = await http(project.url, { path: '/openapi.json' });
    expect(document.json()).toMatchObject({ openapi: '3.1.0' });
    for (const path of ['/docs', '/docs/errors', '/docs/swagger-ui.js']) {
      expect((await http(project.url, { path })).status).toBe(200);
    }
  });

  it('runs no service as root, and each with its own seed only', async () => {
    const services = ['gateway', ...serviceNames];
    const storing = ['ca.pem', 'mongodb-url', 'nats-url', 'nkey', 'password'];
    const seedsOf: Record<string, string[]> = {
      gateway: ['ca.pem', 'nats-url', 'nkey', 'operator-token', 'password', 'redis-url', 'secret'],
      crypto: ['ca.pem', 'nats-url', 'nkey'],
      storage: [...storing, 'secret'],
    };
    const inside = (service: string) =>
      project.call('exec', '-T', service, 'sh', '-c', 'id -u && find /etc/kith -type f');
    const answers = await Promise.all(services.map(inside));
    for (const [i, answer] of answers.entries()) {
      const [user, ...files] = answer.trim().split('\n');
      expect(user).toBe('1000');
      const expected = seedsOf[services[i] ?? ''] ?? storing;
      expect(files.sort()).toEqual(expected.map((file) => `/etc/kith/self/${file}`));
    }
  }, 60_000);

  it('lets one service be stopped and started again alone', async () => {
    const list = () => http(project.url, { path: '/v7/00000000-0000-0000-0000-000000000000/users/x' });
    expect((await list()).status).toBe(404);
    await project.call('stop', 'identity');
    expect((await list()).json()).toMatchObject({ code: 'gateway/unavailable' });
    await project.call('up', '-d', '--no-build', '--no-deps', '--scale', 'identity=2', 'identity');
    // Seconds apart, or the limit of this address is used up before a slow machine has started the service.
    await expect.poll(async () => (await list()).status, { interval: 1000, timeout: 30_000 }).toBe(404);
  }, 90_000);
});
