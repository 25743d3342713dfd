import { flag, wholeNumber } from '@kith/base';
import { type Limit, operations } from '@kith/contracts';
import { commonConfig, drainConfig, secretConfig, tokenConfig } from '@kith/service';
import { z } from 'zod';
import { shownConfig } from './shown-config.ts';

const oneWeek = 7 * 24 * 3600;
const limit = z.object({
  max: z.int().min(1),
  windowSeconds: z.int().min(1).max(oneWeek),
}) satisfies z.ZodType<Limit>;

/** Parses `RATE_LIMITS`. If the text is wrong, the message of the zod issue says why. */
const limits = z.string().transform((text, context): Readonly<Record<string, Limit | null>> => {
  const refuse = (message: string) => {
    context.issues.push({ code: 'custom', message, input: text });
    return z.NEVER;
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse('JSON is needed: {"<operation>": {"max": 100, "windowSeconds": 300}}');
  }
  const parsed = z.record(z.string(), limit.nullable()).safeParse(value);
  if (!parsed.success) {
    return refuse(
      `${parsed.error.issues[0]?.path.join('.') || 'the whole value'}: {"max", "windowSeconds"} or null is needed`,
    );
  }
  const names = new Set<string>(operations.map(({ name }) => name));
  const unknown = Object.keys(parsed.data).find((name) => !names.has(name));
  if (unknown !== undefined) return refuse(`no operation is called ${unknown}`);
  const unlimited = operations.find(
    ({ name, auth }) => auth === 'operator' && Object.hasOwn(parsed.data, name),
  );
  return unlimited ? refuse(`${unlimited.name} is for operators, who have no limit`) : parsed.data;
});

/** Parses `UPSTREAMS`: `storage=http://storage:9091`. */
const upstreams = z.string().transform((text, context): Readonly<Record<string, string>> => {
  const urls: Record<string, string> = {};
  for (const one of text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)) {
    const [, name = '', url = ''] = /^([a-z-]+)=(http:\/\/[^/\s]+)\/?$/.exec(one) ?? [];
    if (!name || !URL.canParse(url)) {
      context.issues.push({ code: 'custom', message: '<service>=http://host:port is needed', input: text });
      return z.NEVER;
    }
    urls[name] = url;
  }
  return urls;
});

const redisUrl = z.url({ protocol: /^rediss?$/, error: 'a Redis address is needed, redis://host:6379' });

const secretText = secretConfig.shape.KITH_SECRET.description ?? '';

/**
 * The gateway's own environment variables. In the distributed form, every process also reads some common variables, which are
 * not listed here.
 */
export const gatewayConfig = z.object({
  HOST: commonConfig.shape.HOST,
  PORT: wholeNumber(0, 65535).default(8080).describe('port of the HTTP API; 0 means any free port'),
  ADMIN_PORT: wholeNumber(0, 65535)
    .optional()
    .describe(
      'separate port for the `/admin` endpoints; if it is set, `PORT` does not serve them; 0 means any free port',
    ),
  REDIS_URL: redisUrl
    .optional()
    .describe('Redis or Valkey in which all gateways count the rate limits together'),
  TRUST_PROXY_HOPS: wholeNumber(0, 32)
    .default(0)
    .describe(
      'number of proxies in front of the gateway whose `X-Forwarded-For` entries are trusted; `ADMIN_PORT` must be behind as many proxies',
    ),
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000)
    .default(10_000)
    .describe('maximum number of client connections that may be open at the same time'),
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumber(1, 1_000_000)
    .default(1_000)
    .describe(
      'maximum number of client connections from one address, where all addresses of one IPv6 /64 count as one; not limited behind a proxy (`TRUST_PROXY_HOPS` over 0)',
    ),
  RATE_LIMIT_SCALE: z
    .string()
    .regex(/^\d+(\.\d+)?$/, 'a number of at least 0 is needed')
    .transform(Number)
    .default(1)
    .describe('factor that multiplies every rate limit, for example 0.5; 0 turns rate limits off'),
  RATE_LIMITS: limits
    .default({})
    .describe('limits that replace the contract\'s: `{"<operation>": {"max": 100, "windowSeconds": 300}}`'),
  ...shownConfig.shape,
  OPERATOR_TOKEN: z
    .string()
    .optional()
    .describe(
      'token for the `/admin` endpoints; in production, it must have at least 32 characters. Without it, these endpoints accept only operator keys. `npm start` makes a token in the file `operator-token` of the data folder',
    ),
  ...tokenConfig.shape,
  ALLOW_TEST_TOKENS: flag.default(false).describe('whether tokens for tests are signed in production, too'),
  ...drainConfig.shape,
  UPSTREAMS: upstreams
    .default({})
    .describe(
      'services that receive or send files over HTTP, `<service>=http://host:port`, separated by commas',
    ),
  STORAGE_FOLDER: z
    .string()
    .optional()
    .describe(
      'the folder of `STORAGE_URL=file:///folder`, if the gateway can read it, too: the gateway then sends downloads itself, with half the work',
    ),
  KITH_SECRET: secretConfig.shape.KITH_SECRET.optional().describe(secretText),
  KITH_SECRET_PREVIOUS: secretConfig.shape.KITH_SECRET_PREVIOUS,
  UPLOAD_IDLE_MS: wholeNumber(1, 600_000)
    .default(30_000)
    .describe('how long a client may pause during an upload, in ms'),
  REQUEST_TIMEOUT_MS: wholeNumber(1, 600_000)
    .default(5_000)
    .describe('how long a service may take to answer, in ms'),
});
export type GatewayConfig = z.output<typeof gatewayConfig>;

/** The same variables for a gateway that runs as a separate process. Such a gateway needs `REDIS_URL` and `KITH_SECRET`. */
export const sharedGatewayConfig = gatewayConfig.extend({
  REDIS_URL: redisUrl.describe('Redis or Valkey in which all gateways count the rate limits together'),
  KITH_SECRET: secretConfig.shape.KITH_SECRET,
});
