import { basename, dirname, resolve } from 'node:path';

export type Engine = 'mongo' | 'redis' | 'nats';

/** How an engine's container is run; it is the same for the official and the offline image. */
export interface ContainerSpec {
  engine: Engine;
  image: string;
  /** If empty, the image's own command. */
  command: string[];
  env: Record<string, string>;
  /** Where clients connect inside the container. */
  port: number;
  /** The port that says whether it is ready, if that is another one. */
  monitorPort?: number;
  /** The folder that holds its data. */
  volume: string;
  /** Folders of this machine that it reads. */
  mounts: { source: string; target: string }[];
  /** Succeeds inside the container once it is ready. */
  healthCheck: string[];
  /** The `uid:gid` that it runs as, if not the image's own user. */
  user?: string;
  /** Further flags of `docker run`, for containers outside of suites. */
  flags?: readonly string[];
  /** With encrypted connections: the authority of the server's certificate, and how a probe signs in. */
  probe?: Probe;
}

/** How a server with encrypted connections is asked whether it is ready. */
export interface Probe {
  ca: string;
  /** The words of Redis' `AUTH`. */
  auth?: string;
}

/** Runs MongoDB, or a server that speaks its protocol. */
export function mongoSpec(image: string): ContainerSpec {
  return {
    engine: 'mongo',
    image,
    command: [],
    env: {},
    port: 27017,
    volume: '/data/db',
    mounts: [],
    // The images have different database shells. Both have bash, and neither server listens before it can answer.
    healthCheck: ['bash', '-c', '</dev/tcp/127.0.0.1/27017'],
  };
}

/** Runs Redis with its append-only file, so that limits outlive a restart. */
export function redisSpec(image: string): ContainerSpec {
  return {
    engine: 'redis',
    image,
    command: ['redis-server', '--appendonly', 'yes'],
    env: {},
    port: 6379,
    volume: '/data',
    mounts: [],
    healthCheck: ['redis-cli', 'ping'],
  };
}

/**
 * Runs NATS with JetStream and monitoring. With a configuration file, the file's folder is mounted, so that it may include others;
 * that file has to set everything (JetStream on /data, monitoring on 8222). Without one, everybody may connect, and all settings
 * are defaults except `max_payload` (4 MiB), how soon the server drops a client that hangs, and how soon it syncs to disk.
 */
export function natsSpec(image: string, configFile?: string): ContainerSpec {
  // Settings from docs/adr/0027, most of which have no flags.
  const settings =
    'max_payload: 4194304, ping_interval: "2s", ping_max: 2, jetstream { store_dir: "/data", sync_interval: "1s" }';
  const inline = `echo '${settings}' > /tmp/nats.conf && exec nats-server -c /tmp/nats.conf -m 8222`;
  return {
    engine: 'nats',
    image,
    command: configFile ? ['-c', `/etc/kith/${basename(configFile)}`] : ['sh', '-c', inline],
    env: {},
    port: 4222,
    monitorPort: 8222,
    volume: '/data',
    mounts: configFile ? [{ source: dirname(resolve(configFile)), target: '/etc/kith' }] : [],
    healthCheck: ['wget', '-q', '-O', '/dev/null', 'http://127.0.0.1:8222/healthz'],
  };
}
