import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { maxPayload } from '@kith/bus';
import { type NatsUser, natsRights } from './nats-rights.ts';
import { kept, type Owner, writePrivate } from './private-files.ts';

/** The files with the NATS users' seeds, each in a folder of its own. */
export interface NatsUserFiles {
  /** The file with the user's seed. */
  seedFile(user: NatsUser): string;
}

/**
 * Makes the NATS users of a prefix on first use, and keeps them. `<folder>/server/nats.conf` has only public keys and rights.
 * `<folder>/<user>/nkey` has the user's seed, and only the owner of this file can read it. The configuration is written each
 * time, so that after an upgrade the rights of the new version apply.
 *
 * @param server Says where the server finds its files, such as `tls.pem`. Also says where the server serves its monitoring
 * page, and who owns the files.
 */
export async function ensureNatsUsers(
  folder: string,
  prefix: string,
  server: { serverFolder: string; monitorHost: string; owner?: Owner | undefined },
): Promise<NatsUserFiles> {
  const { serverFolder, monitorHost, owner } = server;
  // The driver is loaded only when this function runs, because the embedded form works without the driver (docs/adr/0043).
  const { createUser, fromSeed } = await import('@nats-io/nkeys');
  const seedFile = (user: NatsUser) => join(folder, user, 'nkey');
  const users: string[] = [];
  for (const [name, rights] of Object.entries(natsRights(prefix))) {
    const file = seedFile(name as NatsUser);
    kept(file, () => Buffer.from(createUser().getSeed()).toString());
    const publicKey = fromSeed(readFileSync(file)).getPublicKey();
    users.push(`    # ${name}
    { nkey: ${publicKey}, permissions: {
        publish: { allow: ${JSON.stringify(rights.publish)} },
        subscribe: { allow: ${JSON.stringify(rights.subscribe)} },
        # A service may answer one request several times: requests that only read are sent again after a second without an answer.
        allow_responses: { max: 10, expires: "1m" } } }`);
  }
  const config = `# Written by Kith at start; the rights are those of the services' manifests.
port: 4222
tls { cert_file: "${serverFolder}/tls.pem", key_file: "${serverFolder}/tls.pem" }
http: "${monitorHost}:8222"
max_payload: ${maxPayload}
# A replica that hangs loses its share of the requests after seconds, not after four minutes.
ping_interval: "2s"
ping_max: 2
# Messages that a power failure loses are published again from the services' databases (docs/adr/0027).
jetstream { store_dir: "/data", sync_interval: "1s" }
authorization {
  users: [
${users.join(',\n')}
  ]
}
`;
  writePrivate(join(folder, 'server', 'nats.conf'), config, owner);
  return { seedFile };
}
