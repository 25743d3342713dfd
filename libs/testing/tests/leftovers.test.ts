import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { streamNames } from '@kith/service';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import { describe, expect, it } from 'vitest';
import {
  availableEngines,
  type EngineKind,
  type Engines,
  startEngines,
  startPlatform,
  waitFor,
} from '../src/index.ts';

interface Told {
  folder: string;
  prefix: string;
  url: string;
}

/** A process with a platform of its own that is ended from outside. */
async function startChild(engine: EngineKind, env: NodeJS.ProcessEnv) {
  const child = fork(fileURLToPath(new URL('support/platform-child.ts', import.meta.url)), [engine], {
    env: { ...process.env, ...env },
    execPath: process.execPath,
    execArgv: [],
  });
  const [told] = (await once(child, 'message')) as [Told];
  return {
    ...told,
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      return (await once(child, 'exit'))[1] as NodeJS.Signals | null;
    },
  };
}

const isGone = (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  );

async function leftOnEngines({ mongodbUrl, natsUrl }: Engines, prefix: string): Promise<string[]> {
  await using client = new MongoClient(mongodbUrl);
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
  const connection = await connect({ servers: natsUrl.replace(/^nats:\/\//, '') });
  const { streams } = await jetstreamManager(connection);
  const names: string[] = [];
  for await (const { config } of streams.list()) names.push(config.name);
  await connection.close();
  return [
    ...databases.flatMap(({ name }) => (name.startsWith(`${prefix}_`) ? [name] : [])),
    ...Object.values(streamNames(prefix)).filter((name) => names.includes(name)),
  ];
}

describe('what a suite leaves that does not end its platforms', () => {
  it('goes with its process, when that is asked to end', async () => {
    const child = await startChild('embedded', {});
    expect(existsSync(child.folder)).toBe(true);
    expect(await child.end('SIGTERM')).toBe('SIGTERM');
    expect(existsSync(child.folder)).toBe(false);
  });

  it('goes with the next start, when it was killed', async () => {
    const child = await startChild('embedded', {});
    await child.end('SIGKILL');
    expect(existsSync(child.folder)).toBe(true);
    await using other = await startPlatform();
    expect(existsSync(child.folder)).toBe(false);
    expect(existsSync(other.dataFolder)).toBe(true);
  });

  it('is nothing of a platform that could not start', async () => {
    const own = () => readdirSync(tmpdir()).filter((name) => name.includes(`-${process.pid}-t`));
    expect(own()).toEqual([]);
    await expect(startPlatform({ env: { PORT: 'none' } })).rejects.toThrow('PORT');
    expect(own()).toEqual([]);
  });

  it.runIf(availableEngines().includes('containers'))(
    'goes with the next start on the same engines, processes at once',
    async () => {
      await using engines = await startEngines();
      const env = { MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, REDIS_URL: engines.redisUrl };
      const child = await startChild('containers', env);
      expect(await leftOnEngines(engines, child.prefix)).toEqual(
        expect.arrayContaining([`${child.prefix}_identity`, streamNames(child.prefix).events]),
      );
      await child.end('SIGKILL');
      await waitFor(() => isGone(child.url), { what: 'the gateway to end' });
      await using _next = await startPlatform({ engine: 'containers', env });
      expect(existsSync(child.folder)).toBe(false);
      expect(await leftOnEngines(engines, child.prefix)).toEqual([]);
    },
    90_000,
  );
});
