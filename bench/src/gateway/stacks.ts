import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { audience, issuer, type Population } from '../population.ts';
import { type Running, startScript } from '../processes.ts';
import { buildPeers } from './build-peers.ts';

/** The stacks that are measured, in the order of the table. The two floors are minimal gateways (bench/README.md). */
export const stackNames = [
  'kith',
  'nestjs',
  'fastify',
  'express-http',
  'express-nats',
  'floor',
  'floor-redis',
] as const;
/** `kith-before` is the gateway of another checkout, for judging a change. */
export type StackName = (typeof stackNames)[number] | 'kith-before';

/** A stack that is ready to answer. */
export interface Stack {
  name: StackName;
  url: string;
  /** The gateway's process, whose CPU time is counted. */
  gateway: Running;
}

export interface Stacks extends AsyncDisposable {
  all: readonly Stack[];
}

export interface StackSettings {
  natsUrl: string;
  redisUrl: string;
  population: Population;
  page: object;
  /** The folder of the processes' logs. */
  folder: string;
  /** How many processes of Kith's gateway to start; one if absent. */
  gateways?: number;
  /** The stacks to start; all if absent. */
  only?: readonly StackName[] | undefined;
  /** Another checkout with installed packages. Its gateway is measured, too. */
  before?: string | undefined;
  /** The folder where Kith's gateway writes its CPU profile when it ends. */
  profile?: string | undefined;
}

const prefix = 'bench';
const subject = 'bench.echo';
const unlimited = JSON.stringify({ 'connections.list': { max: 1_000_000_000, windowSeconds: 3_600 } });

/** Starts every stack, each with its service. While a stack is not measured, it is idle and uses no CPU time. */
export async function startStacks(settings: StackSettings): Promise<Stacks> {
  const { natsUrl, redisUrl, population, page, folder } = settings;
  const running: Running[] = [];
  const environment: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    NATS_URL: natsUrl,
    REDIS_URL: redisUrl,
    SUBJECT: subject,
    KITH_PREFIX: prefix,
    PAGE: JSON.stringify(page),
    JWK: JSON.stringify(population.jwk),
    PUBLIC_KEY: population.publicKey,
    TOKEN_ISSUER: issuer,
    TOKEN_AUDIENCE: audience,
  };
  const start = async (script: string, more: NodeJS.ProcessEnv = {}, flags: readonly string[] = []) => {
    const env = { ...environment, ...more };
    const process = await startScript(script, { env, flags, log: `${folder}/stacks.log` });
    running.push(process);
    return process;
  };
  const stop = async () => {
    await Promise.all(running.map((process) => process.stop()));
  };
  try {
    const peers = await buildPeers();
    await start(beside('echo-nats.ts'));
    const http = await start(beside('echo-http.ts'));
    const behind = { UPSTREAM_URL: http.ready.url };
    await start(peers('nest-service'), behind);
    const scripts: Record<StackName, [script: string, more?: NodeJS.ProcessEnv]> = {
      kith: [join(root, gatewayMain), gatewaySettings],
      'kith-before': [join(settings.before ?? root, gatewayMain), gatewaySettings],
      nestjs: [peers('nest')],
      fastify: [peers('fastify')],
      'express-http': [peers('express-http')],
      'express-nats': [peers('express-nats')],
      floor: [peers('floor')],
      'floor-redis': [peers('floor'), { FLOOR_REDIS: '1' }],
    };
    const all: Stack[] = [];
    const names: readonly StackName[] = settings.before ? ['kith-before', ...stackNames] : stackNames;
    for (const name of names) {
      if (settings.only && !settings.only.includes(name)) continue;
      const [script, more] = scripts[name];
      const isProfiled = name === 'kith' && settings.profile;
      const flags = isProfiled ? ['--cpu-prof', `--cpu-prof-dir=${settings.profile}`] : [];
      const processes = name === 'kith' ? (settings.gateways ?? 1) : 1;
      for (let at = 0; at < processes; at++) {
        const gateway = await start(script, { ...behind, ...more }, flags);
        all.push({ name, url: gateway.ready.url ?? '', gateway });
      }
    }
    return { all, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const gatewayMain = 'services/gateway/src/main.ts';
const gatewaySettings = {
  RATE_LIMITS: unlimited,
  KITH_SECRET: 'the secret of what the benchmark starts',
  TRUST_PROXY_HOPS: '1',
  PORT: '0',
  INTERNAL_PORT: '0',
  LOG_LEVEL: 'warn',
  // Without this setting, a gateway that is told to end would first wait until load balancers have stopped using it. The
  // benchmark would kill it before it has written its CPU profile.
  DRAIN_MS: '0',
};

function beside(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
