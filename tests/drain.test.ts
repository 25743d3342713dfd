// Starts at most 1 platform and 9 processes.
import { once } from 'node:events';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handlerEngines, startPlatform } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { startByKith } from './support/start-script.ts';

const request = 'GET /.well-known/jwks.json HTTP/1.1\r\nHost: x\r\n\r\n';
/** How long a gateway drains, in ms. This is longer than the test needs to send its requests, even on a busy machine. */
const DRAIN_MS = '12000';

/** A running process that contains a gateway. The test can tell this process to end. */
interface Running extends AsyncDisposable {
  url: string;
  terminate(): void;
  exited: Promise<number | NodeJS.Signals>;
}

/** Starts the platform as `npm start` does, or in the distributed form, whose gateway is a process of its own. */
async function startOne(engine: string): Promise<Running> {
  await using undo = new AsyncDisposableStack();
  if (engine === 'containers') {
    const platform = undo.use(await startPlatform({ engine, env: { DRAIN_MS } }));
    const gateway = platform.processes?.process('gateway');
    if (!gateway) throw new Error('There is no gateway.');
    const kept = undo.move();
    return {
      url: platform.url,
      terminate: () => process.kill(gateway.pid, 'SIGTERM'),
      exited: gateway.exited,
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  }
  const { path } = undo.use(await mkdtempDisposable(join(tmpdir(), 'kith-drain-')));
  const env = { KITH_DATA: path, PORT: '0', DRAIN_MS };
  const kith = undo.use(await startByKith({ env, until: 'Ctrl-C ends it' }));
  const { url } = JSON.parse(await readFile(join(path, 'start.json'), 'utf8'));
  // `kith stop` reads `drainMs` from this file, and adds `drainMs` to its own waiting time.
  expect(JSON.parse(await readFile(join(path, 'running.json'), 'utf8')).drainMs).toBe(Number(DRAIN_MS));
  const kept = undo.move();
  return {
    url,
    // `kith.signal` sends the signal to the whole process group, as a supervisor does. The bootstrap also passes the signal on
    // to the platform. So the platform gets the signal twice.
    terminate: () => kith.signal('SIGTERM'),
    exited: kith.exited,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

describe.each(handlerEngines())('SIGTERM (%s)', (engine) => {
  it('requests on open and new connections are answered until a load balancer has noticed that the gateway ends', async () => {
    await using kith = await startOne(engine);
    const { port, hostname } = new URL(kith.url);
    const open = async () => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      return socket;
    };
    const [early, kept] = [await open(), await open()];
    for (const socket of [early, kept]) expect(await ask(socket)).not.toContain('Connection: close');
    kith.terminate();
    // The first answer with `Connection: close` shows that the signal has arrived.
    while (!(await ask(await open())).includes('Connection: close'));
    for (const socket of [early, kept, await open()]) {
      const answer = await ask(socket);
      expect(answer).toMatch(/^HTTP\/1\.1 200 /);
      expect(answer).toContain('Connection: close');
    }
    expect(await kith.exited).toBe(0);
    await expect(open()).rejects.toThrow(/ECONNREFUSED/);
  });
});

/** Sends a request and returns the status line and the headers of its answer. */
async function ask(socket: Socket): Promise<string> {
  socket.write(request);
  const [chunk] = await once(socket, 'data');
  return String(chunk).split('\r\n\r\n')[0] ?? '';
}
