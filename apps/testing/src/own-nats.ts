import {
  type EngineHandle,
  natsSpec,
  provideEngines,
  runInContainer,
  startContainer,
  withoutUrls,
} from '@kith/engines';

/** A NATS server for a single suite. The suite can make the server lose its files. */
export interface OwnNats extends AsyncDisposable {
  readonly server: EngineHandle;
  /** Copies JetStream's files in their present state. */
  remember(): Promise<void>;
  /** Kills the server, replaces JetStream's files by the copy or removes them all, and starts the server again. */
  lose(to: 'copy' | 'nothing'): Promise<void>;
}

/** Starts a NATS server in a container of its own. */
export async function startOwnNats(configFile?: string): Promise<OwnNats> {
  const server = await startContainer(natsSpec(await natsImage(), configFile));
  const run = (script: string) => runInContainer(server.container, ['sh', '-c', script]);
  return {
    server,
    async remember() {
      // The server is paused, so that the copies of all files are from the same moment.
      await server.kill('SIGSTOP');
      await run('rm -rf /copy && cp -a /data /copy');
      await server.kill('SIGCONT');
    },
    async lose(to) {
      await server.kill('SIGSTOP');
      await run(`rm -rf /data/* ${to === 'copy' ? '&& cp -a /copy/. /data/' : ''}`);
      await server.kill();
      await server.start();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Starts a cluster of three NATS servers, all in one container, and resolves with the first of them. */
export async function startNatsCluster(): Promise<EngineHandle & AsyncDisposable> {
  const nodes = [0, 1, 2];
  const routes = nodes.map((node) => `nats://127.0.0.1:${6222 + node}`).join(', ');
  const configs = nodes.map(
    (node) => `server_name: n${node}, port: ${4222 + node}, http: ${8222 + node}, max_payload: 4194304,
      jetstream { store_dir: "/data/${node}" },
      cluster { name: kith, listen: "127.0.0.1:${6222 + node}", no_advertise: true, routes: [${routes}] }`,
  );
  const starts = configs.map(
    (config, node) => `echo '${config}' > /tmp/${node}.conf; nats-server -c /tmp/${node}.conf &`,
  );
  const spec = natsSpec(await natsImage());
  return startContainer({ ...spec, command: ['sh', '-c', `${starts.join('\n')}\nwait`] });
}

async function natsImage(): Promise<string> {
  const provided = await provideEngines({ env: withoutUrls(process.env) });
  if (provided.kind !== 'docker') throw new Error('A suite with a NATS server of its own needs Docker.');
  return provided.images.nats;
}
