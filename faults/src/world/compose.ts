import { dockerOrThrow, freePort } from '@kith/engines';
import { serviceNames } from '@kith/platform';
import { waitFor } from '@kith/testing';
import { nkeyAuthenticator } from '@nats-io/transport-node';
import { startComposeProject } from '../../../tests/support/compose-project.ts';
import { NatsLog } from '../check/nats-log.ts';
import type { Place } from './place.ts';

/** The distributed form as docker-compose.yml starts it. */
export interface Compose extends Place {
  /**
   * Runs `docker restart -t 0` on the container of a service. Docker then kills the container's process without waiting for it
   * to stop.
   */
  restart(service: string): Promise<void>;
}

/** The suite measures how long processes take to become ready. So Docker checks them every 2 s instead of every 10 s. */
const askedOften = { healthcheck: { interval: '2s' } };

export async function startCompose(progress: (line: string) => void): Promise<Compose> {
  const natsPort = await freePort();
  progress('Building the images and starting them');
  await using ends = new AsyncDisposableStack();
  const { name, url, images, call } = ends.use(
    await startComposeProject({
      version: '2.4',
      services: {
        ...Object.fromEntries(serviceNames.map((service) => [service, askedOften])),
        // The rate limits are high, because the requests of all simulated people come from one address. Test tokens are
        // allowed, because some of these requests create test tokens.
        gateway: { ...askedOften, environment: { RATE_LIMIT_SCALE: '100000', ALLOW_TEST_TOKENS: 'true' } },
        crypto: { ...askedOften, environment: { ALLOW_TEST_TOKENS: 'true' } },
        // The suite reads the events through this port.
        nats: { ports: [`127.0.0.1:${natsPort}:4222`], networks: ['bus', 'outside'] },
      },
    }),
  );
  const containers = (await call('ps', '-q')).split('\n').filter(Boolean);
  const states = async () => {
    const format =
      '{{.Name}} {{.State.Status}} {{.State.ExitCode}} {{if .State.Health}}{{.State.Health.Status}}{{end}}';
    return (await dockerOrThrow(['inspect', '-f', format, ...containers]))
      .split('\n')
      .map((line) => line.split(' '));
  };
  const allReady = async (timeoutMs: number) => {
    const from = performance.now();
    await waitFor(
      async () => {
        const away = (await states()).filter(([, status, code, health]) =>
          status === 'exited' ? code !== '0' : health !== 'healthy',
        );
        if (away.length > 0) throw new Error(away.map((words) => words.join(' ')).join(', '));
        return true;
      },
      { timeoutMs, what: 'every container to be healthy' },
    );
    return performance.now() - from;
  };
  await allReady(120_000);
  const operatorToken = (await call('exec', '-T', 'gateway', 'cat', '/etc/kith/self/operator-token')).trim();
  const ofOperator = async (file: string) => {
    const volume = `${name}_nats-operator:/operator:ro`;
    return dockerOrThrow(['run', '--rm', '-v', volume, images.redis, 'cat', `/operator/${file}`]);
  };
  const [seed, ca] = [await ofOperator('nkey'), await ofOperator('ca.pem')];
  const running = ends.move();
  return {
    url,
    operatorToken,
    log: new NatsLog(
      {
        servers: `127.0.0.1:${natsPort}`,
        tls: { ca },
        inboxPrefix: '_INBOX_operator',
        authenticator: nkeyAuthenticator(new TextEncoder().encode(seed.trim())),
      },
      'kith',
    ),
    allReady,
    async restart(service) {
      await dockerOrThrow(['restart', '-t', '0', (await call('ps', '-q', service)).trim()]);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
