import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '@kith/base';
import { NatsBus } from '@kith/bus/nats';
import { type ProcessName, type ServiceProcess, serviceNames, startServiceProcess } from '@kith/platform';
import { eraseEngines } from '@kith/testing';
import type { Loaded } from '../load/wrk.ts';
import { residentBytes } from '../processes.ts';
import { type Figures, summary } from '../summary.ts';
import { embeddedStart } from './embedded-start.ts';
import { loadAll } from './load.ts';
import { askGateway, askService } from './probes.ts';

export interface ProcessFigures {
  /** The time from the start of the process to its first answer, in ms. */
  start: Figures<{ ms: number }>;
  /** The resident memory before the load, in MiB. */
  idle: number;
  loaded: number;
}

export interface StartFigures {
  processes: Record<ProcessName, ProcessFigures>;
  /** The figures of the load. The load runs after `idle` and before `loaded` is measured. */
  load: Loaded;
  /** The time of `npm start` on an existing data folder, in ms. */
  embedded: Figures<{ ms: number }>;
}

export interface StartOptions {
  natsUrl: string;
  mongodbUrl: string;
  redisUrl: string;
  wrk: string;
  folder: string;
  rounds: number;
  seconds: number;
  progress: (line: string) => void;
}

const names: readonly ProcessName[] = [...serviceNames, 'gateway'];
const settleMs = 5_000;

/** Starts each process separately, round after round. Then loads all processes. At the end starts the embedded form. */
export async function measureStart(options: StartOptions): Promise<StartFigures> {
  const { natsUrl, folder, rounds, progress } = options;
  const prefix = `benchstart${process.pid}`;
  const compiled = join(folder, 'compiled');
  const operatorToken = randomBytes(24).toString('base64url');
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    // Needed because the processes reach the database at its container's address, without TLS.
    ALLOW_PLAIN_ENGINES: 'true',
    ALLOW_TEST_TOKENS: 'true',
    LOG_LEVEL: 'warn',
    // The processes use a compile cache, because the images have such a cache, too.
    NODE_COMPILE_CACHE: compiled,
    NATS_URL: natsUrl,
    MONGODB_URL: options.mongodbUrl,
    REDIS_URL: options.redisUrl,
    KITH_PREFIX: prefix,
    INTERNAL_PORT: '0',
    PORT: '0',
    OPERATOR_TOKEN: operatorToken,
    KITH_SECRET: 'the secret of what the benchmark starts',
    TRUST_PROXY_HOPS: '1',
    RATE_LIMIT_SCALE: '1000000',
  };
  const log = createLogger({ name: 'bench', level: 'warn' });
  const bus = await NatsBus.connect({ url: natsUrl, name: 'bench', prefix, log });
  const running = new Map<ProcessName, ServiceProcess>();
  const start = async (name: ProcessName): Promise<number> => {
    await running.get(name)?.stop();
    const began = performance.now();
    const process = await startServiceProcess(name, { env, logFile: join(folder, `${name}.log`) });
    running.set(name, process);
    if (name === 'gateway') await askGateway(process.ready.url ?? '');
    else await askService(bus, name);
    return performance.now() - began;
  };
  try {
    const times = new Map(names.map((name) => [name, [] as { ms: number }[]]));
    // The first start is not measured. It compiles the code, and makes collections and streams.
    for (const name of names) await start(name);
    for (let round = 1; round <= rounds; round++) {
      for (const name of names) times.get(name)?.push({ ms: await start(name) });
      const told = names.map((name) => `${name} ${Math.round(times.get(name)?.at(-1)?.ms ?? 0)}`);
      progress(`round ${round} of ${rounds}: ms to the first answer: ${told.join(', ')}`);
    }
    await pause(settleMs);
    const idle = memoryOf(running);
    const url = running.get('gateway')?.ready.url ?? '';
    const load = await loadAll(url, { ...options, operatorToken });
    if (load.wrong > 0) progress(`start: ${load.wrong} wrong, the first: ${load.firstWrong}`);
    await pause(settleMs);
    const loaded = memoryOf(running);
    await Promise.all([...running.values()].map((process) => process.stop()));
    const processes = Object.fromEntries(
      names.map((name) => {
        const start = summary(times.get(name) ?? []);
        return [name, { start, idle: idle.get(name) ?? 0, loaded: loaded.get(name) ?? 0 }];
      }),
    ) as StartFigures['processes'];
    return { processes, load, embedded: await embeddedStarts(options, compiled) };
  } finally {
    await Promise.all([...running.values()].map((process) => process.stop()));
    await bus.close();
    await eraseEngines(options, prefix);
  }
}

function memoryOf(running: ReadonlyMap<ProcessName, ServiceProcess>): Map<ProcessName, number> {
  return new Map([...running].map(([name, { pid }]) => [name, residentBytes(pid) / 2 ** 20]));
}

async function embeddedStarts(options: StartOptions, compiled: string): Promise<StartFigures['embedded']> {
  const data = mkdtempSync(join(options.folder, 'data-'));
  await embeddedStart(data, compiled);
  const times: { ms: number }[] = [];
  for (let round = 1; round <= options.rounds; round++)
    times.push({ ms: await embeddedStart(data, compiled) });
  return summary(times);
}
