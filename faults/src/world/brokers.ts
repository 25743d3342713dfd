import { randomBytes } from 'node:crypto';
import { dockerOrThrow, freePort, owner, ownerLabel, removeAtExit, untilReady } from '@kith/engines';

/** A cluster of three NATS servers that replicate their streams. */
export interface Brokers extends AsyncDisposable {
  /** The URLs at which this machine reaches the servers. */
  urls: readonly string[];
  /** The names of the servers. JetStream uses these names for its leaders. */
  names: readonly string[];
  kill(name: string): Promise<void>;
  start(name: string): Promise<void>;
}

const clusterPort = 6222;

export async function startBrokers(image: string): Promise<Brokers> {
  const run = `kith-test-${randomBytes(4).toString('hex')}`;
  const names = ['n1', 'n2', 'n3'].map((one) => `${run}-${one}`);
  const ports = new Map<string, { client: number; monitor: number }>();
  for (const name of names) ports.set(name, { client: await freePort(), monitor: await freePort() });
  removeAtExit(names);
  await using starting = new AsyncDisposableStack();
  await dockerOrThrow(['network', 'create', run]);
  starting.defer(async () => void (await dockerOrThrow(['network', 'rm', run])));
  starting.defer(async () => void (await dockerOrThrow(['rm', '-f', '-v', ...names])));
  const routes = names.map((name) => `"nats://${name}:${clusterPort}"`).join(', ');
  for (const name of names) {
    const settings = `server_name: ${name}
max_payload: 4194304
ping_interval: "2s"
ping_max: 2
port: 4222
http_port: 8222
jetstream { store_dir: /data }
cluster { name: ${run}, listen: "0.0.0.0:${clusterPort}", no_advertise: true, routes: [${routes}] }`;
    const { client = 0, monitor = 0 } = ports.get(name) ?? {};
    await dockerOrThrow([
      ...['run', '-d', '--name', name, '--network', run, '--label', `${ownerLabel}=${owner}`],
      ...['-p', `127.0.0.1:${client}:4222`, '-p', `127.0.0.1:${monitor}:8222`],
      ...['-e', `SETTINGS=${settings}`, image],
      ...['sh', '-c', 'echo "$SETTINGS" > /tmp/nats.conf && exec nats-server -c /tmp/nats.conf'],
    ]);
  }
  const ready = (name: string) => untilReady('nats', ports.get(name) as { client: number });
  await Promise.all(names.map(ready));
  const running = starting.move();
  return {
    urls: names.map((name) => `nats://127.0.0.1:${ports.get(name)?.client}`),
    names,
    kill: async (name) => void (await dockerOrThrow(['kill', name])),
    async start(name) {
      await dockerOrThrow(['start', name]);
      await ready(name);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
