import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type Readable, Transform } from 'node:stream';

/** A TCP proxy in front of a server. The connections through it can be cut and mended. */
export interface Line extends AsyncDisposable {
  /** `host:port`. */
  address: string;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  /** Holds back all answers, also on new connections, like a server that hangs. `mend` passes them on. */
  hush(): void;
  /** Drops all further answers of the server on the present connections. Requests still reach the server. */
  mute(): void;
  /** Ends every connection on which a client sends this text. The server does not receive the text. */
  cutAt(text: string): void;
  /** Undoes `cut`, `hush` and `cutAt`. Accepts new connections again, and passes on all data that was held back. */
  mend(): void;
}

/** Receives each chunk that goes over one connection of a line. */
export type Tap = (from: 'client' | 'server', chunk: Buffer) => void;

/**
 * Starts a proxy in front of a server. The server's URL must name the port. `tap` makes a listener for each connection.
 * `latencyMs` is how long each chunk of an answer takes, in ms.
 */
export async function layLine(target: URL, tap?: () => Tap, latencyMs = 0): Promise<Line> {
  const { port, hostname } = target;
  const sockets = new Set<Socket>();
  /** For each connection: the stream of the server's answers, and the socket to the client. */
  const answers = new Map<Readable, Socket>();
  let isHushed = false;
  let isCut = false;
  let forbidden: string | undefined;
  const muted = new Set<() => void>();
  const proxy = createServer((client) => {
    if (isCut) return client.destroy();
    const server = connect(Number(port), hostname);
    const answer: Readable = latencyMs > 0 ? server.pipe(slowed(latencyMs)) : server;
    const hear = tap?.();
    if (hear) {
      client.on('data', (chunk: Buffer) => hear('client', chunk));
      answer.on('data', (chunk: Buffer) => hear('server', chunk));
    }
    client.on('data', (chunk: Buffer) => {
      if (forbidden === undefined || !chunk.includes(forbidden)) return;
      client.destroy();
      server.destroy();
    });
    const mute = () => answer.unpipe(client).resume();
    muted.add(mute);
    answers.set(answer, client);
    server.on('close', () => {
      muted.delete(mute);
      answers.delete(answer);
    });
    client.pipe(server);
    if (!isHushed) answer.pipe(client);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      end();
    },
    hush() {
      isHushed = true;
      for (const [answer, client] of answers) answer.unpipe(client);
    },
    mute() {
      for (const one of muted) one();
    },
    cutAt(text) {
      forbidden = text;
    },
    mend() {
      isCut = false;
      forbidden = undefined;
      if (!isHushed) return;
      isHushed = false;
      for (const [answer, client] of answers) answer.pipe(client);
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      end();
    },
  };
}

/** Passes each chunk on after a time, in ms. */
function slowed(ms: number): Transform {
  return new Transform({ transform: (chunk, _, done) => void setTimeout(done, ms, null, chunk) });
}
