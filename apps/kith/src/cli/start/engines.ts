import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { type Logger, readVariable, StartError } from '@kith/base';
import {
  type EngineAvailability,
  type Engines,
  type Installation,
  removalOf,
  startNamedEngines,
  urlVariables,
  volumeOf,
} from '@kith/engines';
import { type Credentials, engineOwner, ensureCredentials } from '../../credentials/credentials.ts';
import { ensureDatabaseUsers } from '../../credentials/database-users.ts';
import { writePrivate } from '../../credentials/private-files.ts';
import type { DataFolder } from '../../forms/data-folder.ts';
import { installationFile } from '../../forms/installation-secret.ts';
import { consumersOf } from '../../keeper/consumers.ts';
import type { ProcessName } from '../../services.ts';

/** The engines of a platform, and how each process of the platform reaches them. */
export interface ReachedEngines {
  /** The environment variables by which a process reaches the engines. */
  envOf(name: ProcessName): NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

interface Options {
  provided: Exclude<EngineAvailability, { kind: 'none' }>;
  folder: DataFolder;
  env: NodeJS.ProcessEnv;
  prefix: string;
  /** The folder of the certificates, if the operator gives them. */
  certificates: string | undefined;
  /** Whether the engines run without passwords and encryption. */
  isPlain: boolean;
  progress: (line: string) => void;
  log: Logger;
}

/**
 * Throws `StartError` if only some engines are given by their URLs. Without this check, Kith would start engines with empty
 * databases beside the engines that the operator wants to use.
 */
export function refuseSomeUrls(env: NodeJS.ProcessEnv): void {
  const { given = [], missing = [] } = Object.groupBy(urlVariables, (name) =>
    readVariable(name, env) === undefined ? 'missing' : 'given',
  );
  if (given.length === 0 || missing.length === 0) return;
  throw new StartError(
    `${missing.join(', ')}: must be set together with ${given.join(' and ')}. Set all three. If none is set, Kith starts the engines itself.`,
  );
}

/**
 * Uses the given engines. If none are given, starts engines, which have passwords and encrypted connections, unless `isPlain`
 * is set.
 */
export async function reachEngines(options: Options): Promise<ReachedEngines> {
  const { provided, folder, prefix, isPlain, progress } = options;
  const installation = installationIn(folder);
  if (provided.kind === 'urls') return plainly(provided, async () => {});
  const named = { name: prefix, installation, images: provided.images, progress };
  if (isPlain) {
    const engines = await startNamedEngines(named);
    return plainly(engines, () => engines.stop());
  }
  const credentials = await credentialsIn(options);
  const engines = await startNamedEngines({ ...named, secured: credentials.secured });
  try {
    return await securely(engines, credentials, options);
  } catch (error) {
    await engines.stop();
    throw error;
  }
}

/**
 * Returns the record of the installation in a data folder. The first start makes the record. The Docker volumes of the engines
 * also have the installation's id. `isOlder` is true if an earlier version, which made no record, has run engines for this
 * folder.
 */
export function installationIn(folder: DataFolder): Installation {
  const kept = folder.read(installationFile);
  if (kept) return { ...JSON.parse(kept), folder: folder.path };
  const isOlder = ['credentials', 'nats-users', 'logs'].some((name) => existsSync(folder.file(name)));
  const made = { id: randomUUID(), isOlder };
  folder.write(installationFile, `${JSON.stringify(made, null, 2)}\n`);
  return { ...made, folder: folder.path };
}

function plainly(
  { mongodbUrl, natsUrl, redisUrl }: Pick<Engines, 'mongodbUrl' | 'natsUrl' | 'redisUrl'>,
  stop: () => Promise<void>,
): ReachedEngines {
  const urls = { MONGODB_URL: mongodbUrl, NATS_URL: natsUrl, REDIS_URL: redisUrl };
  return { envOf: () => urls, stop };
}

/**
 * Makes the users of the databases. Also starts the keeper of NATS' streams, which runs as long as the platform. Each process gets
 * only its own credentials.
 */
async function securely(
  engines: Engines,
  credentials: Credentials,
  { folder, env, prefix, log }: Options,
): Promise<ReachedEngines> {
  const hostOf = (url: string) => new URL(url).host;
  const at = {
    nats: hostOf(engines.natsUrl),
    mongo: hostOf(engines.mongodbUrl),
    redis: hostOf(engines.redisUrl),
  };
  const { ca, passwordOf } = credentials;
  await ensureDatabaseUsers({ url: credentials.rootUrl(at.mongo), ca, prefix, passwordOf }).catch(
    (error: Error) => {
      if (!/authentication failed/i.test(error.message)) throw error;
      // This volume is from an earlier version, which did not record the installation on its volumes.
      const volume = volumeOf(engines.mongo.container);
      const sentence = `The passwords in ${folder.path} are not those of the volume ${volume}. Set KITH_DATA to the data folder that the volume belongs to, or KITH_PREFIX to another name.`;
      const all = [engines.mongo, engines.nats, engines.redis].map(({ container }) => volumeOf(container));
      const removal = `If nobody needs that data any more, run: ${removalOf(all)}`;
      throw new StartError(`${sentence} ${removal}`, { cause: error });
    },
  );
  // The driver is loaded only when this function runs, because the embedded form works without it (docs/adr/0043).
  const { keepStreams } = await import('@kith/bus/nats');
  const keeper = await keepStreams({
    ...{ name: 'keeper', prefix, ca, log, url: `tls://${at.nats}`, nkeySeed: credentials.seedOf('keeper') },
    consumers: consumersOf(prefix),
  });
  // With these files, the operator's commands reach the engines, whose ports change with each start.
  credentials.writeUrls('operator', at);
  // If the environment names certificate authorities, they stay trusted.
  const others = env.NODE_EXTRA_CA_CERTS ? readFileSync(env.NODE_EXTRA_CA_CERTS, 'utf8') : '';
  const trusted = folder.file('credentials/trusted.pem');
  writePrivate(trusted, `${ca}${others}`);
  return {
    envOf: (name) => ({
      ...credentials.urlsOf(name, at),
      NATS_NKEY: credentials.seedOf(name),
      NODE_EXTRA_CA_CERTS: trusted,
    }),
    async stop() {
      await keeper.stop();
      await engines.stop();
    },
  };
}

async function credentialsIn({ folder, prefix, certificates: given }: Options): Promise<Credentials> {
  // If this folder exists, an earlier version has made it. No server accepts the seeds in this folder any more, so the folder
  // is removed.
  const earlier = folder.file('nats-users');
  if (existsSync(earlier)) rmSync(earlier, { recursive: true });
  return ensureCredentials(folder.file('credentials'), {
    ...{ prefix, given, owner: engineOwner() },
    // In its container, NATS may listen on all addresses, because Docker publishes the port only at this machine's loopback
    // address.
    monitorHost: '0.0.0.0',
  });
}
