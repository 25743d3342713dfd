// Quick counterpart: tests/guides.test.ts
// Starts no platform and at most 40 processes.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { caller } from '@kith/platform';
import { availableEngines, createPeople, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startComposeProject } from './support/compose-project.ts';
import { followGuide } from './support/follow-guide.ts';
import { readBlocks } from './support/guide.ts';
import { copyRepository } from './support/repository-copy.ts';

const run = promisify(execFile);
const guide = 'add-a-service.md';

/** The environment without the variables that this test runner has set. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^VITEST|_DESK$|_LENGTH$/.test(name)),
);

describe(`docs/${guide}`, () => {
  let copy: Awaited<ReturnType<typeof copyRepository>>;
  beforeAll(async () => {
    copy = await copyRepository({ packages: 'copied' });
  }, 300_000);
  afterAll(() => copy[Symbol.asyncDispose](), 60_000);

  it('the service of the guide runs in the embedded form and passes `npm run check`', async () => {
    const options = { folder: copy.path, env: { PORT: '0', NODE_ENV: undefined } };
    expect(await followGuide(guide, await readBlocks(guide), options)).toBe(4);
  }, 900_000);

  it('the service of the guide passes its suite on every engine', async () => {
    const words = ['tools/bootstrap.mjs', 'tools/test.ts', 'services/statistics'];
    const { stdout } = await run(process.execPath, words, { cwd: copy.path, env });
    expect(stdout).toContain(`${availableEngines().length} passed, 0 failed`);
  }, 300_000);

  it.runIf(availableEngines().includes('containers'))(
    'the service of the guide runs in a container of docker-compose, with its rights on NATS and with its metrics',
    async () => {
      const processes = ['gateway', 'identity', 'connections', 'statistics'];
      await using project = await startComposeProject({ version: '2.4' }, { root: copy.path, processes });
      const answers = () =>
        fetch(`${project.url}/.well-known/jwks.json`).then(
          ({ ok }) => ok,
          () => false,
        );
      await waitFor(answers, { timeoutMs: 120_000, what: 'the gateway' });
      const kept = await project.call('exec', '-T', 'gateway', 'cat', '/etc/kith/self/operator-token');
      const token = kept.trim();
      const call = caller(project.url);
      const people = createPeople(call, token);
      const { id } = await people.createProject();
      const [ada, grace] = [await people.createUser(id), await people.createUser(id)];
      await people.connect(ada, grace);
      const path = `/admin/projects/${id}/connections/count`;
      const count = () => call<{ count: number }>('GET', path, { token });
      await waitFor(async () => (await count()).count === 1, { what: 'the connection' });
      expect(await project.call('logs', '--no-color', 'statistics', 'nats')).not.toMatch(/violation/i);

      const config = await readFile(join(copy.path, 'deploy/prometheus/prometheus.yml'), 'utf8');
      expect(config).toMatch(/^ {10}- statistics$/m);
      expect(await project.metricsOf('statistics')).toMatch(
        /^kith_events_consumed_total\{.*durable="statistics-connections".*\} 1$/m,
      );
    },
    900_000,
  );
});
