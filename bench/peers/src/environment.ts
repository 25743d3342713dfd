/**
 * The settings of every peer. The benchmark starts every peer with the same public key, Redis, NATS server and upstream service
 * as Kith's gateway.
 */
export const environment = {
  publicKey: needed('PUBLIC_KEY'),
  issuer: needed('TOKEN_ISSUER'),
  audience: needed('TOKEN_AUDIENCE'),
  redisUrl: needed('REDIS_URL'),
  natsUrl: needed('NATS_URL'),
  upstreamUrl: needed('UPSTREAM_URL'),
  subject: needed('SUBJECT'),
  /** How many requests a client may make to a project in a window. The number is so high that no request is refused. */
  limit: 1_000_000_000,
  windowSeconds: 3_600,
} as const;

/** The claims that the peers read from a token. */
export interface Claims {
  sub: string;
  projectId: string;
}

/** Tells the benchmark that this process is ready, and at which address it listens. */
export function ready(port: number): void {
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${port}` });
}

function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is needed.`);
  return value;
}
