import {
  type EngineHandle,
  natsSpec,
  provideEngines,
  runInContainer,
  startContainer,
} from '@kith/platform/engines';

/** A NATS server of a suite's own, whose files may be lost. */
export interface OwnNats extends AsyncDisposable {
  readonly server: EngineHandle;
  /** Copies JetStream's files as they are. */
  remember(): Promise<void>;
  /** Kills the server, puts JetStream's files back to the copy, or takes them all away, and starts it again. */
  lose(to: 'copy' | 'nothing'): Promise<void>;
}

/** Starts a NATS server in a container of its own. */
export async function startOwnNats(configFile?: string): Promise<OwnNats> {
  const env = { ...process.env, MONGODB_URL: '', NATS_URL: '', REDIS_URL: '' };
  const provided = await provideEngines({ env });
  if (provided.kind !== 'docker') throw new Error('A suite that loses files of NATS needs Docker.');
  const server = await startContainer(natsSpec(provided.images.nats, configFile));
  const run = (script: string) => runInContainer(server.container, ['sh', '-c', script]);
  return {
    server,
    async remember() {
      // Stopped, so that the copy is of one moment.
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
