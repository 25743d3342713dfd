/** The settings of every peer. They have the same key, Redis, NATS server and upstream as the settings of Kith's gateway. */
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

/** The claims of a token that the peers use. */
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
