// Makes the credentials of an installation in a folder, with a subfolder for each process. docker-compose runs this file before
// it starts the engines. Usage: `node setup.ts <folder> [<data folder>]`. KITH_PREFIX has its usual meaning. If an engine does
// not have its usual address (see `at` below), NATS_AT, MONGO_AT or REDIS_AT gives its address. If the operator provides
// certificates, CERTIFICATES names their folder. If root runs this file, the containers' user becomes the owner of the
// credentials. In the data folder, this user also becomes the owner of the engines' data, `backups` and `erasures`.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { engineNames, ensureCredentials, haveGivenCertificates } from './credentials.ts';
import { natsRights } from './nats-rights.ts';
import { handOver, kept, writePrivate } from './private-files.ts';
import { shareSecret } from './shared-secret.ts';

const { env } = process;
const [folder, dataFolder] = process.argv.slice(2);
if (!folder) throw new Error('Name the folder: node setup.ts <folder>');
const prefix = env.KITH_PREFIX || 'kith';
const given = env.CERTIFICATES && existsSync(join(env.CERTIFICATES, 'ca.pem')) ? env.CERTIFICATES : undefined;
if (!given && haveGivenCertificates(folder)) {
  throw new Error(
    "The engines' certificates are those that CERTIFICATES named. Name their folder again: otherwise the running engines and the processes would not trust each other. To change to certificates of Kith's own, remove the file server/ca.pem first.",
  );
}
const at = {
  nats: env.NATS_AT || 'nats:4222',
  mongo: env.MONGO_AT || 'mongo:27017',
  redis: env.REDIS_AT || 'redis:6379',
};

const credentials = await ensureCredentials(folder, {
  prefix,
  monitorHost: '127.0.0.1',
  hosts: Object.values(at).map((address) => address.replace(/:\d+$/, '')),
  given,
});
for (const user of Object.keys(natsRights(prefix)) as (keyof ReturnType<typeof natsRights>)[])
  credentials.writeUrls(user, at);
// make-database-users.ts needs these files.
const databases = join(folder, 'databases');
writePrivate(join(databases, 'root-url'), credentials.rootUrl(at.mongo));
writePrivate(join(databases, 'ca.pem'), credentials.ca);
writePrivate(join(databases, 'passwords.json'), JSON.stringify(credentials.databasePasswords()));

kept(join(folder, 'gateway', 'operator-token'), () => randomBytes(32).toString('base64url'));
shareSecret(folder);

// The user `node` of the image. All containers run as this user.
const owner = { uid: 1000, gid: 1000 };
if (process.getuid?.() === 0) {
  for (const name of readdirSync(folder)) handOver(join(folder, name), owner, { always: true });
  const others = ['backups', 'erasures'];
  if (dataFolder) for (const name of [...engineNames, ...others]) handOver(join(dataFolder, name), owner);
}
