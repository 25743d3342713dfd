import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  dockerOrThrow,
  freePort,
  imageVariables,
  provideCompose,
  provideEngines,
} from '@kith/platform/engines';
import { uniquePrefix, waitFor } from '@kith/testing';
import { nkeyAuthenticator } from '@nats-io/transport-node';
import { NatsLog } from '../check/nats-log.ts';
import type { Place } from './place.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The distributed form as docker-compose.yml starts it. */
export interface Compose extends Place {
  /** `docker restart` of one of its containers, which is killed and not asked to end. */
  restart(service: string): Promise<void>;
}

export async function startCompose(progress: (line: string) => void): Promise<Compose> {
  const compose = await provideCompose({ progress });
  const { MONGODB_URL: _mongodb, NATS_URL: _nats, REDIS_URL: _redis, ...env } = process.env;
  const provided = await provideEngines({ env, progress });
  if (!compose || provided.kind !== 'docker') throw new Error('There is no docker-compose: install it.');
  await using ends = new AsyncDisposableStack();
  const project = uniquePrefix();
  const folder = await mkdtemp(join(tmpdir(), 'kith-faults-compose-'));
  ends.defer(() => rm(folder, { recursive: true, force: true }));
  const [port, natsPort] = [await freePort(), await freePort()];
  const variables = [imageVariables(provided.images), `IMAGE_PREFIX=${project}`, `PORT=${port}`];
  await writeFile(join(folder, 'images.env'), `${variables.join('\n')}\n`);
  // All of the crowd come from one address; and the events are read from here.
  const more = {
    version: '2.4',
    services: {
      gateway: { environment: { RATE_LIMIT_SCALE: '100000' } },
      nats: { ports: [`127.0.0.1:${natsPort}:4222`] },
    },
  };
  await writeFile(join(folder, 'more.yml'), JSON.stringify(more));
  const [program, ...first] = compose;
  const files = ['-f', join(root, 'docker-compose.yml'), '-f', join(folder, 'more.yml')];
  const flags = ['-p', project, ...files, '--env-file', join(folder, 'images.env')];
  const options = { cwd: root, maxBuffer: 64 * 1024 * 1024, env: { ...env, DOCKER_BUILDKIT: '0' } };
  const call = async (...words: string[]) =>
    (await run(program, [...first, ...flags, ...words], options)).stdout;
  progress('Building the images');
  ends.defer(async () => {
    await call('down', '-v', '--timeout', '0');
    const images = (await dockerOrThrow(['images', '-q', '--filter', `reference=${project}-*`]))
      .split('\n')
      .filter(Boolean);
    if (images.length > 0) await dockerOrThrow(['image', 'rm', '-f', ...new Set(images)]);
  });
  await call('build');
  progress('Starting them');
  await call('up', '-d', '--no-build');
  const containers = (await call('ps', '-q')).split('\n').filter(Boolean);
  const states = async () => {
    const format =
      '{{.Name}} {{.State.Status}} {{.State.ExitCode}} {{if .State.Health}}{{.State.Health.Status}}{{end}}';
    return (await dockerOrThrow(['inspect', '-f', format, ...containers]))
      .split('\n')
      .map((line) => line.split(' '));
  };
  const allReady = async (timeoutMs: number) => {
    const from = performance.now();
    await waitFor(
      async () => {
        const away = (await states()).filter(([, status, code, health]) =>
          status === 'exited' ? code !== '0' : health !== 'healthy',
        );
        if (away.length > 0) throw new Error(away.map((words) => words.join(' ')).join(', '));
        return true;
      },
      { timeoutMs, what: 'every container to be healthy' },
    );
    return performance.now() - from;
  };
  await allReady(120_000);
  const operatorToken = (await call('exec', '-T', 'gateway', 'cat', '/etc/kith/self/operator-token')).trim();
  const volume = `${project}_nats-operator`;
  const seed = await dockerOrThrow([
    'run',
    '--rm',
    '-v',
    `${volume}:/seed:ro`,
    provided.images.redis,
    'cat',
    '/seed/nkey',
  ]);
  const running = ends.move();
  return {
    url: `http://127.0.0.1:${port}`,
    operatorToken,
    log: new NatsLog(
      {
        servers: `127.0.0.1:${natsPort}`,
        inboxPrefix: '_INBOX_operator',
        authenticator: nkeyAuthenticator(new TextEncoder().encode(seed.trim())),
      },
      'kith',
    ),
    allReady,
    async restart(service) {
      await dockerOrThrow(['restart', '-t', '0', (await call('ps', '-q', service)).trim()]);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
