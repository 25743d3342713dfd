import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@kith/base';
import type { Secured } from '@kith/engines';
import { readIfThere } from '../read-if-there.ts';
import { serviceNames } from '../services.ts';
import { type Certified, isGood, makeAuthority, makeServer, validAtOtherTime } from './certificate.ts';
import { databaseUsers } from './database-users.ts';
import type { NatsUser } from './nats-rights.ts';
import { ensureNatsUsers } from './nats-users.ts';
import { kept, newPassword, type Owner, writePrivate } from './private-files.ts';
import { redisAcl, redisConfig } from './redis.ts';

export const engineNames = ['nats', 'mongo', 'redis'] as const;
export type EngineName = (typeof engineNames)[number];

/** The folder of a server's own files, inside the server's container. */
const serverFolder = '/etc/kith/self';

/** The name of the database server's first user, who makes the other users. */
export const rootUser = 'kith-root';

export interface CredentialsOptions {
  prefix: string;
  /** The address at which NATS serves its monitoring page. */
  monitorHost: '127.0.0.1' | '0.0.0.0';
  /** Further names and addresses of the servers. Their own names and the loopback address are always included. */
  hosts?: readonly string[];
  /** A folder with `ca.pem`, `nats.pem`, `mongo.pem` and `redis.pem`, if the operator gives the certificates. */
  given?: string | undefined;
  /**
   * The user that the engines' processes run as. Set only if this process may make this user the owner of the engines' files.
   */
  owner?: Owner | undefined;
}

/** The credentials of an installation's processes and engines, in files. */
export interface Credentials {
  /** The certificate of the authority, as PEM. `caFile` is the path of the file with this certificate. */
  ca: string;
  caFile: string;
  /** The folder of an engine's files: `nats.conf`, `redis.conf`, `tls.pem`. */
  folderOf(engine: EngineName): string;
  /** The seed of a process's NATS user. */
  seedOf(user: NatsUser): string;
  /** The password of a user of the database server, or the gateway's password in Redis. */
  passwordOf(user: string): string;
  /** The passwords of all users of the database server, by name. */
  databasePasswords(): Record<string, string>;
  /** The engines' addresses for the environment of a process, with the process's own credentials. */
  urlsOf(
    user: NatsUser,
    at: Record<EngineName, string>,
  ): Partial<Record<'NATS_URL' | 'MONGODB_URL' | 'REDIS_URL', string>>;
  /** Writes `urlsOf` to files in the user's folder: `nats-url`, `mongodb-url` and `redis-url`. */
  writeUrls(user: NatsUser, at: Record<EngineName, string>): void;
  /** The part of the credentials that is needed to start the engines' containers. */
  secured: Secured;
  /** The database server's address for the user who makes the other users. */
  rootUrl(mongo: string): string;
}

/**
 * Makes the credentials of an installation on first use, and keeps them. If the operator gives no certificates, makes an
 * authority for the installation, and certificates signed by this authority. Each process gets a NATS user. Each service gets a
 * user of the database server, the gateway gets a user of Redis, and the operator gets a user of each engine. The rights in the
 * servers' configuration are written each time, so that after an upgrade the rights of the new version apply (docs/adr/0055).
 */
export async function ensureCredentials(folder: string, options: CredentialsOptions): Promise<Credentials> {
  const { prefix, monitorHost, hosts = [], given, owner } = options;
  const folderOf = (engine: EngineName) => join(folder, folderNameOf(engine));
  const ca = given
    ? givenCertificates(given, folderOf, owner)
    : ownCertificates(folder, folderOf, hosts, owner);
  const caFile = join(folder, 'operator', 'ca.pem');

  const users = await ensureNatsUsers(folder, prefix, { serverFolder, monitorHost, owner });
  const passwordFile = (user: string) => join(folder, user, 'password');
  for (const { name } of databaseUsers(prefix)) kept(passwordFile(name), newPassword);
  const redisPasswords = {
    gateway: kept(passwordFile('gateway'), newPassword),
    // A client sends the password itself to Redis, and not only a proof of it. So the operator has a separate password for
    // Redis, which does not open the databases.
    operator: kept(join(folder, 'operator', 'redis-password'), newPassword),
  };
  const root = kept(join(folderOf('mongo'), 'root-password'), newPassword, owner);

  const redis = folderOf('redis');
  const health = kept(join(redis, 'health-password'), newPassword, owner);
  writePrivate(join(redis, 'users.acl'), redisAcl(prefix, { ...redisPasswords, health }), owner);
  writePrivate(join(redis, 'redis.conf'), redisConfig(serverFolder), owner);
  // Each process reads the authority's certificate from a folder of its own.
  for (const name of ['gateway', 'keeper', 'operator', ...serviceNames])
    writePrivate(join(folder, name, 'ca.pem'), ca);

  const passwordOf = (user: string) => readFileSync(passwordFile(user), 'utf8');
  const databased = new Set(databaseUsers(prefix).map(({ name }) => name));
  const mongoUrl = (user: string, password: string, at: string) =>
    `mongodb://${user}:${password}@${at}/?authSource=admin&tls=true`;
  const urlsOf: Credentials['urlsOf'] = (user, at) => ({
    NATS_URL: `tls://${at.nats}`,
    ...(databased.has(user) && { MONGODB_URL: mongoUrl(user, passwordOf(user), at.mongo) }),
    ...((user === 'gateway' || user === 'operator') && {
      REDIS_URL: `rediss://${user}:${redisPasswords[user]}@${at.redis}`,
    }),
  });
  return {
    ca,
    caFile,
    folderOf,
    seedOf: (user) => readFileSync(users.seedFile(user), 'utf8'),
    passwordOf,
    databasePasswords: () => Object.fromEntries([...databased].map((user) => [user, passwordOf(user)])),
    urlsOf,
    writeUrls(user, at) {
      for (const [name, url] of Object.entries(urlsOf(user, at)))
        writePrivate(join(folder, user, name.toLowerCase().replace('_', '-')), url);
    },
    secured: { folderOf, ca, rootUser, redisHealth: health, owner: owner ?? thisUser() },
    rootUrl: (at) => mongoUrl(rootUser, root, at),
  };
}

/** NATS' folder keeps its name from the first versions, because volumes from these versions are still in use. */
function folderNameOf(engine: EngineName): string {
  return engine === 'nats' ? 'server' : engine;
}

/** Whether the engines have certificates that the operator gave, and not certificates of the installation's own authority. */
export function haveGivenCertificates(folder: string): boolean {
  const used = readIfThere(join(folder, folderNameOf('nats'), 'ca.pem'));
  return used !== undefined && used !== readIfThere(join(folder, 'ca', 'cert.pem'));
}

/**
 * Makes the authority on first use. Makes a certificate for each server whose certificate is missing or is refused by `isGood`.
 * Throws `StartError` if the authority's certificate is not valid at this time, because no process would then trust the
 * engines.
 */
function ownCertificates(
  folder: string,
  folderOf: (engine: EngineName) => string,
  hosts: readonly string[],
  owner: Owner | undefined,
): string {
  const [certFile, keyFile] = [join(folder, 'ca', 'cert.pem'), join(folder, 'ca', 'key.pem')];
  // The key is written last. If the key is missing, both certificate and key are made again.
  if (!existsSync(keyFile)) {
    const made = makeAuthority('Kith installation');
    writePrivate(certFile, made.cert);
    writePrivate(keyFile, made.key);
  }
  const authority: Certified = { cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
  const valid = validAtOtherTime(authority.cert);
  if (valid) {
    const [from, until, now] = [valid.from, valid.until, new Date()].map((one) => one.toISOString());
    throw new StartError(
      `${certFile}: the certificate of the installation's own authority is valid from ${from} to ${until}, but the clock of this machine says ${now}. Check the clock. If it is right, stop the engines, remove ${keyFile}, and start again; the start then makes a new authority.`,
    );
  }
  for (const engine of engineNames) {
    const file = join(folderOf(engine), 'tls.pem');
    const names = [...new Set([engine, 'localhost', '127.0.0.1', ...hosts])];
    const isThere = existsSync(file) && isGood(readFileSync(file, 'utf8'), names, authority.cert);
    if (!isThere) {
      const { cert, key } = makeServer(engine, names, authority);
      writePrivate(file, cert + key, owner);
    }
    writePrivate(join(folderOf(engine), 'ca.pem'), authority.cert, owner);
  }
  return authority.cert;
}

/** Uses the certificates that the operator gives. Each server has one file, with the certificate and then its key. */
function givenCertificates(
  given: string,
  folderOf: (engine: EngineName) => string,
  owner: Owner | undefined,
): string {
  const read = (name: string) => {
    try {
      return readFileSync(join(given, name), 'utf8');
    } catch (error) {
      throw new StartError(
        `${join(given, name)} cannot be read: give ca.pem, nats.pem, mongo.pem and redis.pem.`,
        {
          cause: error,
        },
      );
    }
  };
  const ca = read('ca.pem');
  for (const engine of engineNames) {
    writePrivate(join(folderOf(engine), 'tls.pem'), read(`${engine}.pem`), owner);
    writePrivate(join(folderOf(engine), 'ca.pem'), ca, owner);
  }
  return ca;
}

/**
 * The user that owns the engines' files, if this process is root. Only root can read root's files, and no engine's container runs
 * as root.
 */
export function engineOwner(): Owner | undefined {
  return process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : undefined;
}

function thisUser(): Owner {
  return { uid: process.getuid?.() ?? 1000, gid: process.getgid?.() ?? 1000 };
}
