import { provideEngines, startContainers } from '@kith/engines';

/** Addresses of three running engines. */
export interface Engines extends AsyncDisposable {
  mongodbUrl: string;
  natsUrl: string;
  redisUrl: string;
  /** Whether the environment has named the engines. They then keep running after the end of this process. */
  areGiven: boolean;
}

/**
 * Provides real engines. If MONGODB_URL, NATS_URL and REDIS_URL are all set, these engines are used. If not, starts containers,
 * which end when the returned object is disposed. Many callers may share the same engines. Each caller has its own database
 * name and subject prefix.
 */
export async function startEngines(options: { env?: NodeJS.ProcessEnv } = {}): Promise<Engines> {
  const env = options.env ?? process.env;
  const provided = await provideEngines({ env });
  if (provided.kind === 'none') throw new Error(provided.reason);
  if (provided.kind === 'urls') {
    const { mongodbUrl, natsUrl, redisUrl } = provided;
    return { mongodbUrl, natsUrl, redisUrl, areGiven: true, async [Symbol.asyncDispose]() {} };
  }
  return Object.assign(await startContainers({ images: provided.images }), { areGiven: false });
}
