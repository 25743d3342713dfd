import { provideEngines, startContainers } from '@kith/engines';

/** Addresses of three running engines. */
export interface Engines extends AsyncDisposable {
  mongodbUrl: string;
  natsUrl: string;
  redisUrl: string;
}

/**
 * Gives real engines: those of MONGODB_URL, NATS_URL and REDIS_URL when all three are set, else containers that end with the
 * returned object. Many callers may share the same engines, each with a database name and a subject prefix of its own.
 */
export async function startEngines(options: { env?: NodeJS.ProcessEnv } = {}): Promise<Engines> {
  const env = options.env ?? process.env;
  const provided = await provideEngines({ env });
  if (provided.kind === 'none') throw new Error(provided.reason);
  if (provided.kind === 'urls') {
    const { mongodbUrl, natsUrl, redisUrl } = provided;
    return { mongodbUrl, natsUrl, redisUrl, async [Symbol.asyncDispose]() {} };
  }
  return startContainers({ images: provided.images });
}
