// Starts at most 3 platforms and 10 processes.
import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { streamNames } from '@kith/bus';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
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
  internalUrls: string[];
}

/** A process with a platform of its own. The test ends this process from outside. */
async function startChild(engine: EngineKind, env: NodeJS.ProcessEnv) {
  const child = fork(fileURLToPath(new URL('support/platform-child.ts', import.meta.url)), [engine], {
    env: { ...process.env, ...env },
    execPath: process.execPath,
    execArgv: [],
  });
  const exited = once(child, 'exit');
  const [told] = (await once(child, 'message')) as [Told];
  return {
    ...told,
    async end(signal: NodeJS.Signals) {
      child.kill(signal);
      return (await exited)[1] as NodeJS.Signals | null;
    },
  };
}
type Child = Awaited<ReturnType<typeof startChild>>;

const envOf = (engines: Engines | undefined): NodeJS.ProcessEnv =>
  engines ? { MONGODB_URL: engines.mongodbUrl, NATS_URL: engines.natsUrl, REDIS_URL: engines.redisUrl } : {};

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

describe('a platform that its suite does not stop', () => {
  const children: Child[] = [];
  let engines: Engines | undefined;
  let folder: string;
  // The processes start at the same time, because their starts take most of this suite's time.
  beforeAll(async () => {
    // Each start of a platform removes leftover folders from the temporary folder, and other test files of this run also start
    // platforms. So this suite has its own temporary folder.
    folder = mkdtempSync(join(tmpdir(), 'kith-leftovers-'));
    chmodSync(folder, 0o755);
    vi.stubEnv('TMPDIR', folder);
    const onEngines = availableEngines().includes('containers');
    engines = onEngines ? await startEngines() : undefined;
    const kinds: EngineKind[] = ['embedded', 'embedded', ...(onEngines ? (['containers'] as const) : [])];
    children.push(...(await Promise.all(kinds.map((kind) => startChild(kind, envOf(engines))))));
  }, 90_000);
  afterAll(async () => {
    await Promise.all(children.map((child) => child.end('SIGKILL')));
    await engines?.[Symbol.asyncDispose]();
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
  const childAt = (index: number) => children[index] as Child;

  it('its folder is removed when the process is asked to end', async () => {
    const child = childAt(0);
    expect(existsSync(child.folder)).toBe(true);
    expect(await child.end('SIGTERM')).toBe('SIGTERM');
    expect(existsSync(child.folder)).toBe(false);
  });

  it('its folder is removed by the next start if the process was killed', async () => {
    const child = childAt(1);
    await child.end('SIGKILL');
    expect(existsSync(child.folder)).toBe(true);
    await using other = await startPlatform();
    expect(existsSync(child.folder)).toBe(false);
    expect(existsSync(other.dataFolder)).toBe(true);
  });

  it('its folder stays if the folder belongs to another user of the machine', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    const nameOf = (index: number) => `kith-platform-embedded-${hostname()}-${pid}-t00000000000${index}`;
    const folder = mkdtempSync(join(tmpdir(), 'kith-leftovers-'));
    chmodSync(folder, 0o777);
    for (const index of [1, 2]) mkdirSync(join(folder, nameOf(index)));
    writeFileSync(join(folder, nameOf(1), 'file'), '');
    chmodSync(join(folder, nameOf(1)), 0o500);
    // Root may remove everything. So if this test runs as root, the removal runs as a user who owns only the second folder.
    const uid = process.getuid?.() === 0 ? 65_534 : undefined;
    if (uid !== undefined) chownSync(join(folder, nameOf(2)), uid, uid);
    const script = `
      const { removeLeftFolders } = await import(${JSON.stringify(new URL('../src/platform-folder.ts', import.meta.url))});
      ${uid === undefined ? '' : `process.setuid(${uid});`}
      await removeLeftFolders();`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TMPDIR: folder },
      encoding: 'utf8',
    });
    const left = readdirSync(folder);
    chmodSync(join(folder, nameOf(1)), 0o700);
    rmSync(folder, { recursive: true });
    expect([status, stderr, left]).toEqual([0, '', [nameOf(1)]]);
  });

  it('its folder stays if its data is on other engines than those of the next start', () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    const nameOf = (prefix: string) => `kith-platform-containers-${hostname()}-${pid}-${prefix}`;
    const prefixes = { own: 't000000000001', others: 't000000000002', unknown: 't000000000003' };
    const folder = mkdtempSync(join(tmpdir(), 'kith-leftovers-'));
    for (const prefix of Object.values(prefixes)) mkdirSync(join(folder, nameOf(prefix)));
    const script = `
      import { join } from 'node:path';
      const { noteEngines, removeLeftFolders } = await import(${JSON.stringify(new URL('../src/platform-folder.ts', import.meta.url))});
      const engines = { mongodbUrl: 'mongodb://one', natsUrl: 'nats://one', redisUrl: 'redis://one' };
      await noteEngines(join(${JSON.stringify(folder)}, '${nameOf(prefixes.own)}'), engines);
      const others = { ...engines, natsUrl: 'nats://two' };
      await noteEngines(join(${JSON.stringify(folder)}, '${nameOf(prefixes.others)}'), others);
      await removeLeftFolders({ engines, erase: async (prefix) => console.log(prefix) });`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TMPDIR: folder },
      encoding: 'utf8',
    });
    const left = readdirSync(folder);
    rmSync(folder, { recursive: true });
    const erased = stdout.trim().split('\n').sort();
    expect([stderr, erased]).toEqual(['', [prefixes.own, prefixes.unknown]]);
    expect(left).toEqual([nameOf(prefixes.others)]);
  });

  it('a platform that could not start leaves no folder behind', async () => {
    const own = () => readdirSync(tmpdir()).filter((name) => name.includes(`-${process.pid}-t`));
    const before = own();
    await expect(startPlatform({ env: { PORT: 'none' } })).rejects.toThrow('PORT');
    expect(own()).toEqual(before);
  });

  it.runIf(availableEngines().includes('containers'))(
    'its data is removed by the next start on the same engines, and its processes end immediately',
    async () => {
      const child = childAt(2);
      const left = () => leftOnEngines(engines as Engines, child.prefix);
      expect(await left()).toEqual(
        expect.arrayContaining([`${child.prefix}_identity`, streamNames(child.prefix).events]),
      );
      await child.end('SIGTERM');
      // All processes have to end first, because a service that is still stopping may write into its database.
      for (const url of [child.url, ...child.internalUrls])
        await waitFor(() => isGone(url), { what: 'the processes to end' });
      await using _next = await startPlatform({ engine: 'containers', env: envOf(engines) });
      expect(existsSync(child.folder)).toBe(false);
      expect(await left()).toEqual([]);
    },
    90_000,
  );
});
