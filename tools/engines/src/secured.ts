import type { ContainerSpec, Engine } from './specs.ts';

/**
 * The files and names with which an engine accepts only encrypted connections of known users. The caller that starts the engine
 * makes these files.
 */
export interface Secured {
  /** The folder of each engine's own files. The engine's container finds it at `/etc/kith/self`. */
  folderOf: (engine: Engine) => string;
  /** The certificate of the authority that signed the servers' certificates, as PEM. */
  ca: string;
  /** The first user of the database server. The server's folder holds this user's password. */
  rootUser: string;
  /** The password of Redis' user `health`. */
  redisHealth: string;
  /** The user of this machine who owns the files. The engines run as this user. */
  owner: { uid: number; gid: number };
}

/** Where a container finds its own files. */
export const ownFolder = '/etc/kith/self';

/** The additional arguments of each server. They name the files that the server uses. */
const commands: Record<Engine, string[]> = {
  nats: ['-c', `${ownFolder}/nats.conf`],
  redis: ['redis-server', `${ownFolder}/redis.conf`],
  mongo: [
    ...['mongod', '--bind_ip_all', '--auth', '--tlsMode=requireTLS'],
    ...[`--tlsCertificateKeyFile=${ownFolder}/tls.pem`, `--tlsCAFile=${ownFolder}/ca.pem`],
    '--tlsAllowConnectionsWithoutCertificates',
  ],
};

/** An engine's container with passwords and encrypted connections, which runs without root's rights. */
export function securedSpec(spec: ContainerSpec, secured: Secured): ContainerSpec {
  const { engine, env } = spec;
  const { uid, gid } = secured.owner;
  return {
    ...spec,
    command: commands[engine],
    env:
      engine === 'mongo'
        ? {
            ...env,
            MONGO_INITDB_ROOT_USERNAME: secured.rootUser,
            MONGO_INITDB_ROOT_PASSWORD_FILE: `${ownFolder}/root-password`,
          }
        : env,
    mounts: [{ source: secured.folderOf(engine), target: ownFolder }],
    user: `${uid}:${gid}`,
    flags: [
      ...['--user', `${uid}:${gid}`, '--read-only', '--tmpfs', '/tmp:mode=1777', '--cap-drop', 'ALL'],
      ...['--security-opt', 'no-new-privileges:true', '--pids-limit', engine === 'mongo' ? '1000' : '200'],
      ...['--memory', engine === 'mongo' ? '2g' : '512m'],
    ],
    probe: { ca: secured.ca, ...(engine === 'redis' && { auth: `health ${secured.redisHealth}` }) },
  };
}
