// Quick counterpart: tests/start.test.ts
// Starts no platform and at most 30 processes.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { dockerOrThrow } from '@kith/engines';
import { type StartFile, serviceNames } from '@kith/platform';
import { availableEngines, eraseEngines, startEngines, uniquePrefix, waitFor } from '@kith/testing';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { runKith } from './support/command.ts';
import { bannerIn, curlLines, startByKith } from './support/start-script.ts';

const run = promisify(execFile);
const words = ['--distributed'];
const processes = ['gateway', ...serviceNames];

describe.each(availableEngines().filter((engine) => engine === 'containers'))(
  'kith start --distributed (%s)',
  () => {
    it('prints ten lines with a command to paste, runs each service as a process, and ends all processes', async () => {
      await using engines = await startEngines();
      const prefix = uniquePrefix();
      const data = await mkdtemp(join(tmpdir(), 'kith-distributed-'));
      const env = {
        KITH_DATA: data,
        KITH_PREFIX: prefix,
        PORT: '0',
        // This is longer than `usualStopMs`, the time in which a process usually has to stop. So the processes would be killed
        // if the drain time were not added to that time.
        DRAIN_MS: '26000',
        MONGODB_URL: engines.mongodbUrl,
        NATS_URL: engines.natsUrl,
        REDIS_URL: engines.redisUrl,
      };
      await using kith = await startByKith({ words, env, until: 'Ctrl-C ends it' });
      expect(bannerIn(kith.output()).length, kith.output()).toBeLessThanOrEqual(10);
      const [line = '', ...others] = curlLines(kith.output());
      expect(others, kith.output()).toEqual([]);
      const listed = JSON.parse((await run('bash', ['-c', line])).stdout);
      const file: StartFile = JSON.parse(await readFile(join(data, 'start.json'), 'utf8'));
      expect(listed.connections).toMatchObject([{ connectedUser: { id: file.users[1]?.id } }]);
      expect(kith.output()).toContain(`  reference  ${file.url}/docs?project=${file.projectId}\n`);
      const [, internal] = /identity is up, internally at (\S+)/.exec(kith.output()) ?? [];
      expect((await fetch(`${internal}/readyz`)).status).toBe(200);
      for (const [given, sentence] of [
        [{}, `Another Kith is up at ${file.url} and uses the data folder ${data};`],
        [
          { KITH_DATA: `${data}-2`, PORT: new URL(file.url).port },
          `Another Kith is up at ${file.url}; stop it, or set PORT to another port.`,
        ],
      ] as const) {
        const second = await startByKith({
          words,
          env: { ...env, ...given },
          until: 'Ctrl-C ends it',
        });
        second.signal('SIGINT');
        expect([await second.exited, second.output()]).toEqual([1, expect.stringContaining(sentence)]);
      }
      const { stdout } = await run('ps', ['-eo', 'pgid,args']);
      const own = stdout.split('\n').filter((line) => line.trim().startsWith(`${kith.pid} `));
      for (const name of processes) {
        expect(own.filter((line) => line.includes(`services/${name}/src/main.ts`))).toHaveLength(1);
      }
      // If a process ends by itself, the platform starts the process again. The platform does so even if it cannot record the
      // restart, for example because the disk is full.
      const connectionsPids = async () => {
        const words = ['-g', String(kith.pid), '-f', 'services/connections/src/main.ts'];
        return (await run('pgrep', words)).stdout.trim().split('\n').map(Number);
      };
      const inTheWay = join(data, 'running.json.new');
      await mkdir(inTheWay);
      for (const starts of [2, 3]) {
        const [pid = 0, ...others] = await connectionsPids();
        expect(others).toEqual([]);
        process.kill(pid, 'SIGKILL');
        await waitFor(() => kith.output().split('connections is up').length === starts + 1, {
          what: `start ${starts}`,
          timeoutMs: 60_000,
        });
        await rm(inTheWay, { recursive: true, force: true });
      }
      expect(kith.output()).toContain(`The data folder ${data} cannot be written to (EISDIR).`);
      expect(await connectionsPids()).toHaveLength(1);
      const again = await run('bash', ['-c', line]);
      expect(JSON.parse(again.stdout)).toEqual(listed);
      // The process that was started again has another internal port. So this also checks that `kith status` asks at the new
      // port.
      const status = await runKith(['status', '--json'], { KITH_DATA: data });
      expect([status.code, JSON.parse(status.stdout)]).toMatchObject([
        0,
        { isReady: true, form: 'distributed', url: file.url },
      ]);
      expect(JSON.parse(status.stdout).services).toHaveLength(processes.length);
      const stopped = runKith(['stop'], { KITH_DATA: data });
      // While the gateway drains, the services still serve requests.
      const isDraining = async () => (await fetch(file.url)).headers.get('connection') === 'close';
      await waitFor(isDraining, { what: 'the gateway to drain' });
      expect(JSON.parse((await run('bash', ['-c', line])).stdout)).toEqual(listed);
      expect((await stopped).code).toBe(0);
      expect(await kith.exited).toBe(0);
      expect(() => process.kill(-kith.pid, 0)).toThrow();
      await eraseEngines(engines, prefix);
      for (const folder of [data, `${data}-2`]) await rm(folder, { recursive: true, force: true });
    }, 300_000);

    it('starts engines with passwords and TLS, and keeps the data', async () => {
      const data = await mkdtemp(join(tmpdir(), 'kith-distributed-'));
      const prefix = uniquePrefix();
      const env = { KITH_DATA: data, KITH_PREFIX: prefix, PORT: '0', CI: 'true' };
      const inspect = async (engine: string, format: string) =>
        dockerOrThrow(['inspect', '-f', format, `${prefix}-${engine}`]);
      const projects: string[] = [];
      for (let time = 0; time < 2; time++) {
        await using kith = await startByKith({ words, env, until: 'Ctrl-C ends it' });
        const [line = ''] = curlLines(kith.output());
        expect(line, kith.output()).not.toBe('');
        expect(JSON.parse((await run('bash', ['-c', line])).stdout).connections).toHaveLength(1);
        projects.push((JSON.parse(await readFile(join(data, 'start.json'), 'utf8')) as StartFile).projectId);
        for (const engine of ['mongo', 'nats', 'redis']) {
          const hardened =
            '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}}';
          expect(await inspect(engine, hardened)).toBe('true [ALL] [no-new-privileges:true]');
          expect(await inspect(engine, '{{.Config.User}}')).not.toMatch(/^(0|root)?(:|$)/);
        }
        const port = await inspect(
          'redis',
          '{{(index (index .NetworkSettings.Ports "6379/tcp") 0).HostPort}}',
        );
        const plain = new Redis(`redis://127.0.0.1:${port}`, {
          lazyConnect: true,
          retryStrategy: () => null,
        });
        plain.on('error', () => {});
        await expect(plain.connect()).rejects.toThrow();
        expect((await runKith(['stop'], { KITH_DATA: data })).code).toBe(0);
        expect(await kith.exited).toBe(0);
      }
      expect(projects[1]).toBe(projects[0]);
      await dockerOrThrow([
        'volume',
        'rm',
        ...['mongo', 'nats', 'redis'].map((one) => `${prefix}-${one}-data`),
      ]);
      await rm(data, { recursive: true, force: true });
    }, 180_000);

    it('says in one sentence which server does not answer', async () => {
      const data = await mkdtemp(join(tmpdir(), 'kith-distributed-'));
      const dead = '127.0.0.1:1';
      await using engines = await startEngines();
      const env = {
        KITH_DATA: data,
        KITH_PREFIX: uniquePrefix(),
        PORT: '0',
        MONGODB_URL: engines.mongodbUrl,
        NATS_URL: `nats://user:secret@${dead}`,
        REDIS_URL: engines.redisUrl,
      };
      const kith = await startByKith({ words, env, until: 'Ctrl-C ends it' });
      expect(await kith.exited).toBe(1);
      expect(kith.output()).toMatch(/NATS at nats:\/\/127\.0\.0\.1:1 does not answer: /);
      expect(kith.output()).not.toContain('secret');
      await rm(data, { recursive: true, force: true });
    }, 60_000);
  },
);
