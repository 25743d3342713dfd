import { basename, dirname, resolve } from 'node:path';

export type Engine = 'mongo' | 'redis' | 'nats';

/** How an engine's container is run. This is the same for the official and the offline image. */
export interface ContainerSpec {
  engine: Engine;
  image: string;
  /** The command of the container. If it is empty, the image's own command runs. */
  command: string[];
  env: Record<string, string>;
  /** The port inside the container to which clients connect. */
  port: number;
  /**
   * The port inside the container that reports whether the engine is ready. An engine that reports this at `port` itself has no
   * such port.
   */
  monitorPort?: number;
  /** The folder in the container that holds the engine's data. */
  volume: string;
  /**
   * Whether this folder is in memory. If so, the engine never waits for a disk, and loses its data when its container stops.
   */
  isInMemory?: boolean;
  /** Folders of this machine that the container reads. */
  mounts: { source: string; target: string }[];
  /** A command that succeeds inside the container once the engine is ready. */
  healthCheck: string[];
  /** The `uid:gid` that the container runs as. If it is missing, the container runs as the image's own user. */
  user?: string;
  /** Additional flags of `docker run`, for containers outside of tests. */
  flags?: readonly string[];
  /** With encrypted connections: the authority of the server's certificate, and how a probe signs in. */
  probe?: Probe;
}

/** How to ask a server with encrypted connections whether it is ready. */
export interface Probe {
  ca: string;
  /** The arguments of Redis' command `AUTH`. */
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
    // The two images have different database shells, but both have bash. Neither server listens on its port before it can
    // answer, so a successful connection shows that the server is ready.
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
 * Runs NATS with JetStream and monitoring. If a configuration file is given, its folder is mounted, so that the file may
 * include other files. The file has to set everything (JetStream on /data, monitoring on 8222). Without a file, everybody may
 * connect, and most settings are defaults. The exceptions are `max_payload` (4 MiB), how soon the server drops a client that
 * hangs, and how soon it syncs to disk.
 */
export function natsSpec(image: string, configFile?: string): ContainerSpec {
  // These settings are from docs/adr/0027. The server has no flags for most of these settings, so they are in a file.
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
