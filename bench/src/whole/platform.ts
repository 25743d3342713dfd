import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Limit } from '@kith/contracts';
import { samplePage } from '../page.ts';
import { type Asked, audience, issuer, makePopulation, type Population } from '../population.ts';
import { type Running, serviceMain, startScript } from '../processes.ts';
import { seedConnections } from './seed.ts';

/**
 * A gateway and the connections service. Both send requests to identity, and an echo service answers these requests. A page of
 * connections is stored for every user.
 */
export interface WholePlatform extends AsyncDisposable {
  population: Population;
  /** The processes by name, to measure their CPU time. */
  running: Readonly<Record<string, Running>>;
  url: string;
  /** The required beginning of each page's body. The body's length varies. */
  expected: { length: number; front: string };
  database: string;
  /**
   * Waits after an overload, because leftover requests would take time from the next round. Resolves as soon as ten requests in
   * a row were answered with 200. Rejects if this takes more than a minute.
   */
  settled(): Promise<void>;
  /** Starts another gateway, with other limits, and resolves with its address. */
  startGateway(name: string, limits: Readonly<Record<string, Limit>>): Promise<string>;
}

export interface WholeSettings {
  mongodbUrl: string;
  natsUrl: string;
  redisUrl: string;
  /** The folder of the processes' logs. */
  folder: string;
  /** The cores of the processes. If `gatewayCores` is set, the gateways run on those cores instead. */
  cores?: string | undefined;
  gatewayCores?: string | undefined;
  /** The gateways' `REQUEST_TIMEOUT_MS`, if it differs from the default. */
  timeoutMs?: number;
  progress: (line: string) => void;
}

/** The path that the load asks for. */
export function pagePath({ person }: Asked): string {
  return `/${person.projectId}/connections?page=1&limit=20`;
}

/** Asks for one page, checks it, and resolves with its body. The answers to the load have to begin in the same way. */
async function expectedOf(url: string, path: string, token: string) {
  const { status, body } = await ask(url, path, token);
  if (status !== 200) throw new Error(`The whole path answers ${status}: ${body}`);
  const { connections, pagination } = JSON.parse(body);
  if (connections.length !== 20 || pagination.totalCount !== each) {
    throw new Error('The service does not read the connections that were stored for the benchmark.');
  }
  if (connections.some((one: { connectedUser: { name: string | null } }) => !one.connectedUser.name)) {
    throw new Error('The page of connections does not contain the stored profiles.');
  }
  return body;
}

async function ask(url: string, path: string, token: string) {
  const answer = await fetch(url + path, {
    headers: { Authorization: `Bearer ${token}`, 'X-Forwarded-For': '10.7.0.1' },
  });
  return { status: answer.status, body: await answer.text() };
}

const each = 50;
const settleMs = 60_000;

/** Starts the whole path, with limits that refuse nothing. */
export async function startWhole(settings: WholeSettings): Promise<WholePlatform> {
  const {
    mongodbUrl,
    natsUrl,
    redisUrl,
    folder,
    cores,
    gatewayCores = cores,
    timeoutMs,
    progress,
  } = settings;
  const population = await makePopulation();
  const prefix = `benchwhole${process.pid}`;
  const database = `${prefix}_connections`;
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    // Needed because the processes reach the database at its container's address, without TLS.
    ALLOW_PLAIN_ENGINES: 'true',
    LOG_LEVEL: 'warn',
    MONGODB_URL: mongodbUrl,
    NATS_URL: natsUrl,
    REDIS_URL: redisUrl,
    KITH_PREFIX: prefix,
    KITH_SECRET: 'the secret of what the benchmark starts',
    INTERNAL_PORT: '0',
  };
  const running: Record<string, Running> = {};
  const start = async (name: string, script: string, more: NodeJS.ProcessEnv = {}, on = cores) => {
    const process = await startScript(script, {
      env: { ...environment, ...more },
      log: join(folder, 'whole.log'),
      cores: on,
    });
    running[name] = process;
    return process;
  };
  const startGateway = async (name: string, limits: Readonly<Record<string, Limit>>) => {
    const settings = {
      PORT: '0',
      TRUST_PROXY_HOPS: '1',
      RATE_LIMITS: JSON.stringify(limits),
      TOKEN_ISSUER: issuer,
      TOKEN_AUDIENCE: audience,
      ...(timeoutMs ? { REQUEST_TIMEOUT_MS: String(timeoutMs) } : {}),
    };
    const gateway = await start(name, serviceMain('gateway'), settings, gatewayCores);
    return gateway.ready.url ?? '';
  };
  const stop = async () => {
    await Promise.all(Object.values(running).map((process) => process.stop()));
    await dropDatabase(mongodbUrl, database);
  };
  try {
    await start('identity', fileURLToPath(new URL('../gateway/echo-nats.ts', import.meta.url)), {
      SUBJECT: `${prefix}.unused`,
      // With this setting, the echo service does not answer requests to the connections service, because the real service
      // answers them.
      WITHOUT_CONNECTIONS: '1',
      PAGE: JSON.stringify(samplePage()),
      JWK: JSON.stringify(population.jwk),
    });
    await start('connections', serviceMain('connections'));
    const url = await startGateway('gateway', {
      'connections.list': { max: 1_000_000_000, windowSeconds: 3_600 },
    });
    progress('storing connections for the whole path');
    await seedConnections(mongodbUrl, database, { people: population.people, each });
    const [first] = population.requests;
    if (!first) throw new Error('There are no requests.');
    const body = await expectedOf(url, pagePath(first), first.person.token);
    const expected = { length: 0, front: body.slice(0, 17) };
    const settled = async () => {
      const until = performance.now() + settleMs;
      for (let answered = 0; answered < 10; ) {
        if (performance.now() > until) throw new Error('The whole path does not answer any more.');
        const { status } = await ask(url, pagePath(first), first.person.token);
        answered = status === 200 ? answered + 1 : 0;
      }
    };
    return {
      ...{ population, running, url, expected, database, settled, startGateway },
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function dropDatabase(url: string, database: string): Promise<void> {
  const { MongoClient } = await import('mongodb');
  const client = new MongoClient(url);
  await client.db(database).dropDatabase();
  await client.close();
}
