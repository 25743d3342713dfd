/** What every peer is told: the same key, limiter, bus and upstream as Kith's gateway. */
export const environment = {
  publicKey: needed('PUBLIC_KEY'),
  issuer: needed('TOKEN_ISSUER'),
  audience: needed('TOKEN_AUDIENCE'),
  redisUrl: needed('REDIS_URL'),
  natsUrl: needed('NATS_URL'),
  upstreamUrl: needed('UPSTREAM_URL'),
  subject: needed('SUBJECT'),
  /** Requests a project's client may make in a window; so many that none is refused. */
  limit: 1_000_000_000,
  windowSeconds: 3_600,
} as const;

/** The claims the peers go by. */
export interface Claims {
  sub: string;
  projectId: string;
}

/** Tells the benchmark where this process listens. */
export function ready(port: number): void {
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${port}` });
}

function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is needed.`);
  return value;
}
