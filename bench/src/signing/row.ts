import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { LoadOptions } from '../load/options.ts';
import { closedLoad } from '../load/wrk.ts';
import { samplePage } from '../page.ts';
import { audience, issuer, makePopulation } from '../population.ts';
import { cpuMicros, type Running, serviceMain, startScript } from '../processes.ts';
import { seeded, zipf } from '../random.ts';
import { type Figures, summary } from '../summary.ts';

const run = promisify(execFile);

/** The rate in signatures per second. For Kith, also the times in ms, and the service's CPU time in µs for each signature. */
export interface SigningSample {
  rps: number;
  p50: number;
  p99: number;
  cpu_us: number;
}

export interface SigningRow {
  kith: Figures<SigningSample>;
  openssl: Figures<{ rps: number }>;
  /** The rate of Node alone, without a service. */
  node: Figures<{ rps: number }>;
  cores: Cores | null;
}

interface Cores {
  /** The cores of the crypto service. When OpenSSL is measured, it uses the same cores. */
  signing: string;
  others: string;
}

export interface SigningOptions extends LoadOptions {
  cores: Cores | null;
}

/** Measures `sign-testing-jwt` over HTTP, and the rate of OpenSSL alone. Both run in turn on the same cores. */
export async function measureSigning(options: SigningOptions): Promise<SigningRow> {
  const { natsUrl, redisUrl, folder, cores, progress } = options;
  const population = await makePopulation({ users: 100, requests: 1_000 });
  const prefix = `benchsign${process.pid}`;
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    ALLOW_TEST_TOKENS: 'true',
    LOG_LEVEL: 'warn',
    NATS_URL: natsUrl,
    REDIS_URL: redisUrl,
    KITH_PREFIX: prefix,
    KITH_SECRET: 'the secret of what the benchmark starts',
    INTERNAL_PORT: '0',
  };
  const running: Running[] = [];
  const start = async (script: string, on: string | undefined, more: NodeJS.ProcessEnv = {}) => {
    const settings = { env: { ...environment, ...more }, log: join(folder, 'signing.log'), cores: on };
    const process = await startScript(script, settings);
    running.push(process);
    return process;
  };
  try {
    await start(fileURLToPath(new URL('../gateway/echo-nats.ts', import.meta.url)), cores?.others, {
      SUBJECT: `${prefix}.unused`,
      PAGE: JSON.stringify(samplePage()),
      JWK: JSON.stringify(population.jwk),
    });
    const crypto = await start(serviceMain('crypto'), cores?.signing);
    const gateway = await start(serviceMain('gateway'), cores?.others, {
      PORT: '0',
      TRUST_PROXY_HOPS: '1',
      RATE_LIMITS: JSON.stringify({ 'crypto.sign-testing-jwt': { max: 100_000_000, windowSeconds: 3_600 } }),
      TOKEN_ISSUER: issuer,
      TOKEN_AUDIENCE: audience,
    });
    const requests = writeSigningRequests(join(folder, 'signing.requests'), population.requests);
    const load = async (seconds: number): Promise<SigningSample & { wrong: number }> => {
      const before = cpuMicros(crypto.pid);
      const loaded = await closedLoad({
        wrk: options.wrk,
        url: gateway.ready.url ?? '',
        requests,
        seconds,
        connections: options.connections,
        expected: { length: 0, front: '{"token":"eyJ' },
        cores: cores?.others,
      });
      if (loaded.wrong > 0) progress(`signing: ${loaded.wrong} wrong, the first: ${loaded.firstWrong}`);
      const { answered, p50, p99, wrong } = loaded;
      const cpu_us = (cpuMicros(crypto.pid) - before) / answered;
      return { rps: answered / loaded.seconds, p50, p99, cpu_us, wrong };
    };
    await load(options.seconds);
    const kith: SigningSample[] = [];
    const openssl: { rps: number }[] = [];
    const node: { rps: number }[] = [];
    let wrong = 0;
    for (let round = 1; round <= options.rounds; round++) {
      const { wrong: more, ...sample } = await load(options.seconds);
      wrong += more;
      kith.push(sample);
      openssl.push({ rps: await opensslRate(options.seconds, cores?.signing) });
      node.push({ rps: await nodeRate(options.seconds, cores?.signing) });
      progress(
        `round ${round} of ${options.rounds}: signing ${Math.round(sample.rps)}/s, openssl ${Math.round(openssl.at(-1)?.rps ?? 0)}/s`,
      );
    }
    return { kith: summary(kith, wrong), openssl: summary(openssl), node: summary(node), cores };
  } finally {
    await Promise.all(running.map((process) => process.stop()));
  }
}

/** Writes requests with the keys of twenty developers, picked by Zipf's law. Each request has a payload of its own. */
function writeSigningRequests(
  file: string,
  asked: Awaited<ReturnType<typeof makePopulation>>['requests'],
): string {
  const keys = Array.from({ length: 20 }, () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' })).toString('base64');
  });
  const key = zipf(keys.length, seeded(17));
  const lines = asked.map(({ person: { projectId, userId, token }, address }) => {
    const payload = { id: userId, name: 'Person', role: 'user' };
    const body = JSON.stringify({ projectId, privateKey: keys[key()], payload });
    return ['POST', `/${projectId}/crypto/sign-testing-jwt`, token, address, userId, body].join('\t');
  });
  writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
  return file;
}

/** The signatures per second of the `openssl` command, as the command itself measures them. */
async function opensslRate(seconds: number, cores: string | undefined): Promise<number> {
  const command = [
    ...(cores ? ['taskset', '-c', cores] : []),
    ...['openssl', 'speed', '-elapsed', '-seconds', String(seconds), 'rsa2048'],
  ];
  const [program = '', ...words] = command;
  const { stdout } = await run(program, words);
  const rate = /^rsa\s+2048 bits\s+\S+s\s+\S+s\s+([\d.]+)/m.exec(stdout)?.[1];
  if (!rate) throw new Error('openssl speed has printed no rate of RSA signatures.');
  return Number(rate);
}

async function nodeRate(seconds: number, cores: string | undefined): Promise<number> {
  const script = fileURLToPath(new URL('node-alone.ts', import.meta.url));
  const command = [...(cores ? ['taskset', '-c', cores] : []), process.execPath, script];
  const [program = '', ...words] = command;
  const env = { PATH: process.env.PATH, SECONDS: String(seconds) };
  return Number((await run(program, words, { env })).stdout);
}
