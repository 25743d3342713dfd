// Quick counterpart: tests/images.test.ts
// Starts no platform and at most 20 processes.
import { execFile } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { caller, type ProcessName, serviceNames, startServiceProcess, streamingNames } from '@kith/platform';
import {
  availableEngines,
  compileCache,
  createPeople,
  createUploads,
  eraseEngines,
  startEngines,
  uniquePrefix,
} from '@kith/testing';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../', import.meta.url));

describe.runIf(availableEngines().includes('containers'))(
  'services that have only the content of their images',
  () => {
    it('start, are healthy, and serve together', async () => {
      await using running = new AsyncDisposableStack();
      const { path: folder } = running.use(await mkdtempDisposable(join(tmpdir(), 'kith-images-')));
      // Makes the content of the images in the same way as the Dockerfile.
      await run(process.execPath, ['tools/images.ts', folder, ...serviceNames, 'gateway'], { cwd: root });
      const engines = running.use(await startEngines());
      const prefix = uniquePrefix();
      running.defer(() => eraseEngines(engines, prefix));
      const env = {
        ...{
          PATH: process.env.PATH,
          NODE_ENV: 'test',
          KITH_PREFIX: prefix,
          NODE_COMPILE_CACHE: compileCache(),
        },
        ...{ HOST: '127.0.0.1', PORT: '0', HTTP_PORT: '0', INTERNAL_PORT: '0', RATE_LIMIT_SCALE: '0' },
        ...{ MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, REDIS_URL: engines.redisUrl },
        ...{ OPERATOR_TOKEN: `operator-${prefix}`, KITH_SECRET: `the secret of the installation ${prefix}` },
        MAIL_FOLDER: join(folder, 'mail'),
      };
      const start = async (name: ProcessName, more: NodeJS.ProcessEnv = {}) => {
        const [tree, logFile] = [join(folder, name), join(folder, `${name}.log`)];
        const main = join(tree, 'services', name, 'src/main.ts');
        const one = await startServiceProcess(name, { env: { ...env, ...more }, logFile, main });
        running.defer(() => one.stop());
        const port = { INTERNAL_PORT: String(one.ready.internalPort) };
        // Runs the same program as the image's health check.
        const check = () => run(process.execPath, ['tools/healthcheck.mjs'], { cwd: tree, env: port });
        await expect.poll(check, { timeout: 30_000 }).toMatchObject({ stderr: '' });
        return one.ready;
      };
      const ready = await Promise.all(serviceNames.map((name) => start(name)));
      const upstreams = streamingNames.map((name) => `${name}=${ready[serviceNames.indexOf(name)]?.httpUrl}`);
      const { url = '' } = await start('gateway', { UPSTREAMS: upstreams.join(','), API_REFERENCE: 'all' });
      const people = createPeople(caller(url, { patienceMs: 10_000 }), env.OPERATOR_TOKEN, caller(url));
      const project = await people.createProject();
      const user = await people.createUser(project.id);
      const image = await createUploads(url).uploadImage(user);
      expect(image).toMatchObject({ type: 'image' });
      expect((await fetch(`${url}/docs/swagger-ui.js`)).status).toBe(200);
    }, 120_000);
  },
);
