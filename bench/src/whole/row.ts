import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LoadOptions } from '../load/options.ts';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad } from '../load/wrk.ts';
import { samplePage } from '../page.ts';
import { audience, issuer, makePopulation } from '../population.ts';
import { cpuMicros, type Running, serviceMain, startScript } from '../processes.ts';
import { type Figures, summary } from '../summary.ts';
import { seedConnections } from './seed.ts';

const run = promisify(execFile);

export interface WholeSample {
  rps: number;
  p50: number;
  p99: number;
}

export interface WholeRow {
  kith: Figures<WholeSample>;
  driver: Figures<WholeSample>;
  /** CPU time of each process in µs a request. */
  cpu_us: Record<string, number>;
  cores: { database: string; others: string } | null;
}

export interface WholeOptions extends LoadOptions {
  mongodbUrl: string;
  /** Where the database's container has been pinned to, and all else is to be; null leaves it to the machine. */
  cores: { database: string; others: string } | null;
}

/** The body varies with what is stored, so its length is found out by asking once. */
async function expectedOf(url: string, path: string, token: string) {
  const answer = await fetch(url + path, {
    headers: { Authorization: `Bearer ${token}`, 'X-Forwarded-For': '10.7.0.1' },
  });
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`The whole path answers ${answer.status}: ${body}`);
  const { connections, pagination } = JSON.parse(body);
  if (connections.length !== 20 || pagination.totalCount !== each) {
    throw new Error('What was stored for the benchmark is not what the service reads.');
  }
  if (connections.some((one: { connectedUser: { name: string | null } }) => !one.connectedUser.name)) {
    throw new Error('The profiles that were stored are not joined.');
  }
  return body;
}

const each = 50;

/** Measures a page of connections from the gateway to the database, and the same queries by the driver alone, in turn. */
export async function measureWhole(options: WholeOptions): Promise<WholeRow> {
  const { mongodbUrl, natsUrl, redisUrl, folder, cores, progress } = options;
  const population = await makePopulation();
  const prefix = `benchwhole${process.pid}`;
  const database = `${prefix}_connections`;
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    MONGODB_URL: mongodbUrl,
    NATS_URL: natsUrl,
    REDIS_URL: redisUrl,
    KITH_PREFIX: prefix,
    INTERNAL_PORT: '0',
  };
  const running: Record<string, Running> = {};
  const start = async (name: string, script: string, more: NodeJS.ProcessEnv = {}) => {
    const process = await startScript(script, {
      env: { ...environment, ...more },
      log: join(folder, 'whole.log'),
      cores: cores?.others,
    });
    running[name] = process;
    return process;
  };
  try {
    await start('identity', fileURLToPath(new URL('../gateway/echo-nats.ts', import.meta.url)), {
      SUBJECT: `${prefix}.unused`,
      // Connections are the real service's here.
      WITHOUT_CONNECTIONS: '1',
      PAGE: JSON.stringify(samplePage()),
      JWK: JSON.stringify(population.jwk),
    });
    await start('connections', serviceMain('connections'));
    const gateway = await start('gateway', serviceMain('gateway'), {
      PORT: '0',
      TRUST_PROXY_HOPS: '1',
      RATE_LIMITS: JSON.stringify({ 'connections.list': { max: 1_000_000_000, windowSeconds: 3_600 } }),
      TOKEN_ISSUER: issuer,
      TOKEN_AUDIENCE: audience,
    });
    progress('storing connections for the whole path');
    await seedConnections(mongodbUrl, database, { people: population.people, each });
    const url = gateway.ready.url ?? '';
    const path = ({ person }: { person: { projectId: string } }) =>
      `/${person.projectId}/connections?page=1&limit=20`;
    const [first] = population.requests;
    if (!first) throw new Error('There are no requests.');
    const body = await expectedOf(url, path(first), first.person.token);
    const requests = writeRequests(join(folder, 'whole.requests'), population.requests, (asked) => ({
      path: path(asked),
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
      const expected = { length: 0, front: body.slice(0, 17) };
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
    const cpu_us = Object.fromEntries(
      Object.entries(used).map(([name, micros]) => [name, micros / answered]),
    );
    return { kith: summary(kith, wrong), driver: summary(driver), cpu_us, cores };
  } finally {
    await Promise.all(Object.values(running).map((process) => process.stop()));
    await dropDatabase(mongodbUrl, database);
  }
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

async function dropDatabase(url: string, database: string): Promise<void> {
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(url);
  await client.db(database).dropDatabase();
  await client.close();
}
