import { randomBytes } from 'node:crypto';
import { dockerOrThrow, freePort, owner, ownerLabel, removeAtExit, untilReady } from '@kith/engines';

/** A database on its own small disk, which can be filled. Whenever the database ends, Docker starts it again. */
export interface SmallDatabase extends AsyncDisposable {
  url: string;
  /** Fills the disk completely. */
  fill(): Promise<void>;
  /** Frees the filled space again. */
  free(): Promise<void>;
}

const sizeMegabytes = 600;

export async function startSmallDatabase(image: string): Promise<SmallDatabase> {
  const name = `kith-test-${randomBytes(4).toString('hex')}-small`;
  const holder = `${name}-disk`;
  const port = await freePort();
  removeAtExit([name, holder]);
  await using starting = new AsyncDisposableStack();
  await dockerOrThrow([
    ...['volume', 'create', '--driver', 'local', '--opt', 'type=tmpfs', '--opt', 'device=tmpfs'],
    ...['--opt', `o=size=${sizeMegabytes}m`, name],
  ]);
  starting.defer(async () => void (await dockerOrThrow(['volume', 'rm', name])));
  starting.defer(async () => void (await dockerOrThrow(['rm', '-f', '-v', name, holder])));
  const common = ['-v', `${name}:/data/db`, '--label', `${ownerLabel}=${owner}`];
  // This container keeps the disk alive. The disk is in memory, and would disappear with the last container that uses it.
  await dockerOrThrow(['run', '-d', '--name', holder, ...common, '--entrypoint', 'sleep', image, 'infinity']);
  const restarts = ['--restart', 'unless-stopped', '-p', `127.0.0.1:${port}:27017`];
  await dockerOrThrow(['run', '-d', '--name', name, ...common, ...restarts, image]);
  await untilReady('mongo', { client: port });
  const running = starting.move();
  return {
    url: `mongodb://127.0.0.1:${port}`,
    // `cat` writes until the disk is full, and then fails. This failure is expected.
    fill: async () =>
      void (await dockerOrThrow(['exec', holder, 'sh', '-c', 'cat /dev/zero > /data/db/full || true'])),
    free: async () => void (await dockerOrThrow(['exec', holder, 'rm', '-f', '/data/db/full'])),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
