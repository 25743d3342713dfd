import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { maxPayload } from '@kith/bus';
import { type NatsUser, natsRights } from './rights.ts';

/** Files of the NATS users: the server's configuration, and each user's seed in a folder of its own. */
export interface NatsUserFiles {
  /** Folder that holds `nats.conf`, without any secret in it. */
  configFolder: string;
  /** File with the user's seed. */
  seedFile(user: NatsUser): string;
}

/**
 * Makes the NATS users of a prefix on first use and keeps them: `<folder>/server/nats.conf` has public keys and
 * rights only, `<folder>/<user>/nkey` the seed, readable by its owner alone. The configuration is written anew each
 * time, so that an upgrade brings its rights.
 */
export async function ensureNatsUsers(folder: string, prefix: string): Promise<NatsUserFiles> {
  // Loaded when it is used: the embedded form does without the driver (docs/adr/0043).
  const { createUser, fromSeed } = await import('@nats-io/nkeys');
  const seedFile = (user: NatsUser) => join(folder, user, 'nkey');
  const users: string[] = [];
  for (const [name, rights] of Object.entries(natsRights(prefix))) {
    const file = seedFile(name as NatsUser);
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    if (!existsSync(file)) writeFileSync(file, createUser().getSeed(), { mode: 0o600 });
    const publicKey = fromSeed(readFileSync(file)).getPublicKey();
    users.push(`    # ${name}
    { nkey: ${publicKey}, permissions: {
        publish: { allow: ${JSON.stringify(rights.publish)} },
        subscribe: { allow: ${JSON.stringify(rights.subscribe)} },
        # A service answers whoever asked it, as often as it was asked: what only reads is asked again each second.
        allow_responses: { max: 10, expires: "1m" } } }`);
  }
  const configFolder = join(folder, 'server');
  mkdirSync(configFolder, { recursive: true, mode: 0o755 });
  const config = `# Written by Kith at start; the rights are those of the services' manifests.
port: 4222
http: 8222
max_payload: ${maxPayload}
# A replica that hangs loses its share of the requests after seconds, not after four minutes.
ping_interval: "2s"
ping_max: 2
# What is lost with the power goes out again from the services' databases (docs/adr/0027).
jetstream { store_dir: "/data", sync_interval: "1s" }
authorization {
  users: [
${users.join(',\n')}
  ]
}
`;
  writeFileSync(join(configFolder, 'nats.conf'), config, { mode: 0o644 });
  return { configFolder, seedFile };
}
