import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LoadOptions } from '../load/options.ts';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad } from '../load/wrk.ts';
import { cpuMicros } from '../processes.ts';
import { type Figures, summary } from '../summary.ts';
import { pagePath, startWhole } from './platform.ts';

const run = promisify(execFile);

export interface WholeSample {
  rps: number;
  p50: number;
  p99: number;
}

export interface WholeRow {
  kith: Figures<WholeSample>;
  driver: Figures<WholeSample>;
  /** The CPU time of each process for one request, in µs. */
  cpu_us: Record<string, number>;
  cores: { database: string; others: string } | null;
}

export interface WholeOptions extends LoadOptions {
  mongodbUrl: string;
  /**
   * The cores to which the database's container is pinned, and the cores of all other processes. `null` if the machine chooses the
   * cores.
   */
  cores: { database: string; others: string } | null;
}

/**
 * Measures requests for a page of connections, which go through the gateway and the service to the database. Also measures the
 * same queries with the database driver alone. The two measurements take turns.
 */
export async function measureWhole(options: WholeOptions): Promise<WholeRow> {
  const { folder, cores, progress } = options;
  await using platform = await startWhole({ ...options, cores: cores?.others });
  const { population, running, url, expected, database } = platform;
  const requests = writeRequests(join(folder, 'whole.requests'), population.requests, (asked) => ({
    path: pagePath(asked),
  }));
  const ownersFile = join(folder, 'whole.owners.json');
  writeFileSync(
    ownersFile,
    JSON.stringify(population.requests.map(({ person: { projectId, userId } }) => ({ projectId, userId }))),
  );

  const kith: WholeSample[] = [];
  const driver: WholeSample[] = [];
  const used: Record<string, number> = {};
  let answered = 0;
  let wrong = 0;
  const kithRound = async (seconds: number) => {
    const { wrk, connections } = options;
    return closedLoad({ wrk, url, requests, seconds, connections, expected, cores: cores?.others });
  };
  await kithRound(options.seconds);
  for (let round = 1; round <= options.rounds; round++) {
    const before = Object.entries(running).map(([name, { pid }]) => [name, cpuMicros(pid)] as const);
    const loaded = await kithRound(options.seconds);
    for (const [name, micros] of before) {
      used[name] = (used[name] ?? 0) + cpuMicros(running[name]?.pid ?? 0) - micros;
    }
    answered += loaded.answered;
    wrong += loaded.wrong;
    if (loaded.wrong > 0) progress(`whole: ${loaded.wrong} wrong, the first: ${loaded.firstWrong}`);
    kith.push({ rps: loaded.answered / loaded.seconds, p50: loaded.p50, p99: loaded.p99 });
    driver.push(await driverRound(options, database, ownersFile));
    progress(
      `round ${round} of ${options.rounds}: whole ${Math.round(kith.at(-1)?.rps ?? 0)}/s, driver ${Math.round(driver.at(-1)?.rps ?? 0)}/s`,
    );
  }
  const cpu_us = Object.fromEntries(Object.entries(used).map(([name, micros]) => [name, micros / answered]));
  return { kith: summary(kith, wrong), driver: summary(driver), cpu_us, cores };
}

async function driverRound(
  options: WholeOptions,
  database: string,
  ownersFile: string,
): Promise<WholeSample> {
  const { cores } = options;
  const script = fileURLToPath(new URL('driver.ts', import.meta.url));
  const command = [...(cores ? ['taskset', '-c', cores.others] : []), process.execPath, script];
  const [program = '', ...words] = command;
  const { stdout } = await run(program, words, {
    maxBuffer: 1 << 20,
    env: {
      PATH: process.env.PATH,
      MONGODB_URL: options.mongodbUrl,
      DATABASE: database,
      OWNERS_FILE: ownersFile,
      AT_ONCE: String(options.connections),
      SECONDS: String(options.seconds),
    },
  });
  return JSON.parse(stdout) as WholeSample;
}
