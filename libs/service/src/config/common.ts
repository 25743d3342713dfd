import { flag, wholeNumber } from '@kith/base/config';
import type { StoreConfig } from '@kith/store';
import { z } from 'zod';
import { operationsAtOnce } from '../operations/admission.ts';

/**
 * What every process reads from its environment. The table in docs/configuration.md is generated from the descriptions
 * (`describe`) of the variables.
 */
export const commonConfig = z.object({
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('production')
    .describe(
      '`production`, `development` or `test`; for `npm start` and `kith start`, the default is `development`',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('lowest level that is logged'),
  KITH_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'a to z, 0 to 9, _ and - only, at most 32 characters')
    .default('kith')
    .describe('first part of the names of databases, subjects, streams and Redis keys'),
  HOST: z.string().default('127.0.0.1').describe('address to listen on (0.0.0.0 in the images)'),
  INTERNAL_HOST: z
    .string()
    .default('127.0.0.1')
    .describe(
      'address on which the internal port listens; keep this port off public networks (0.0.0.0 in the images)',
    ),
  INTERNAL_PORT: wholeNumber(0, 65535)
    .default(9090)
    .describe(
      'port of `/healthz`, `/readyz` and `/metrics`; 0 means any free port; outside of production, `npm start` takes a free port if 9090 is taken',
    ),
  OPERATIONS_AT_ONCE: wholeNumber(1, 10_000)
    .default(operationsAtOnce)
    .describe(
      'maximum number of requests that a service works on at once; further requests wait, or get 503 if they could not be answered in time',
    ),
});

/** The issuer and the audience of access tokens. Identity, the gateway and backups must have the same values. */
export const tokenConfig = z.object({
  TOKEN_ISSUER: z.string().default('kith').describe('`iss` of access tokens'),
  TOKEN_AUDIENCE: z
    .string()
    .default('kith.dev')
    .describe('`aud` of access tokens: the domain of this platform'),
});

/** What a process needs to reach the bus in the distributed form. */
export const natsConfig = z.object({
  NATS_URL: z
    .string({ error: 'a NATS address is needed, nats://host:4222' })
    .describe(
      'NATS server with JetStream, or several servers of a cluster, separated by commas; `tls://` for TLS',
    ),
  NATS_NKEY: z.string().optional().describe("seed of the service's NATS user"),
  ALLOW_PLAIN_ENGINES: flag
    .default(false)
    .describe(
      'whether production may use NATS, MongoDB and Redis on other machines without TLS or without credentials',
    ),
  NATS_STREAM_REPLICAS: z
    .enum(['1', '3', '5'])
    .default('1')
    .transform(Number)
    .describe(
      'how many servers of a NATS cluster keep a copy of each event: 1, 3 or 5; can be raised later, but not lowered',
    ),
});

/** What a service that stores data needs to reach its database. */
export const mongoConfig = z.object({
  MONGODB_URL: z
    .string({ error: 'a MongoDB address is needed, mongodb://host:27017' })
    .describe(
      'MongoDB or a compatible server; timeouts in the query of the address (`?waitQueueTimeoutMS=…`) replace Kith’s own timeouts',
    ),
});

const secret = z
  .string({ error: 'a secret of at least 32 characters is needed' })
  .min(32, 'at least 32 characters are needed')
  .regex(/^[^,\n]*$/, 'it must not contain a comma');

/** What a process needs to seal, sign or verify with the secret of the installation (docs/adr/0048). */
export const secretConfig = z.object({
  KITH_SECRET: secret.describe(
    'secret of the installation, of at least 32 characters. It seals signing keys, and services recognise gateways by it. `KITH_SECRET_COMMAND` names a program that prints the secret. Outside of production, `npm start` creates a secret in the data folder',
  ),
  KITH_SECRET_PREVIOUS: z
    .string()
    .transform((list) =>
      list
        .split(/[,\n]/)
        .map((one) => one.trim())
        .filter(Boolean),
    )
    .pipe(z.array(secret))
    .default([])
    .describe(
      'other secrets, separated by commas. While `KITH_SECRET` is being changed, data that was sealed under one of them can still be opened, and requests that were signed under one of them are still accepted',
    ),
});

/**
 * How long a process drains in production, in ms. Most load balancers check the readiness of a process at shorter intervals.
 */
const productionDrainMs = 5_000;

/** Settings for a process that serves HTTP. With these settings, the process loses no requests when it ends. */
export const drainConfig = z.object({
  DRAIN_MS: wholeNumber(0, 600_000)
    .optional()
    .describe(
      'how long a gateway, or a service that receives or sends files, keeps serving after SIGTERM, in ms (5,000 in production, otherwise 0). Meanwhile it reports that it is not ready, and answers with `Connection: close`',
    ),
});

/** How long a process drains, in ms. */
export function drainMsOf(
  { DRAIN_MS }: z.output<typeof drainConfig>,
  nodeEnv: z.output<typeof commonConfig>['NODE_ENV'],
): number {
  return DRAIN_MS ?? (nodeEnv === 'production' ? productionDrainMs : 0);
}

/** What a service needs to receive or send bytes over HTTP. */
export const httpConfig = z.object({
  HTTP_PORT: wholeNumber(0, 65535)
    .default(9091)
    .describe('port on which a service exchanges files with gateways; 0 means any free port'),
  ...drainConfig.shape,
  ...secretConfig.shape,
});

/** The address at which clients reach the gateway. It does not end with a slash. */
export const publicUrl = z
  .url({ protocol: /^https?$/, error: 'the address by which clients reach the gateway is needed' })
  .transform((url) => url.replace(/\/+$/, ''));
export const publicUrlText =
  'address at which clients reach the gateway; addresses of files and links in mails begin with it';

/**
 * The environment of a service that stores nothing. `storingServiceConfig` is the environment of a service that stores data.
 */
export const serviceConfig = z.object({ ...commonConfig.shape, ...natsConfig.shape });
export const storingServiceConfig = z.object({ ...serviceConfig.shape, ...mongoConfig.shape });

/** Where a process of the distributed form stores a service's data. Each service has its own database. */
export function storeOf(
  service: string,
  { MONGODB_URL: url, KITH_PREFIX: prefix }: z.output<typeof mongoConfig> & { KITH_PREFIX: string },
): StoreConfig {
  return { kind: 'mongo', url, database: `${prefix}_${service}` };
}
