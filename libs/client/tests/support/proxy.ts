import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { finished } from 'node:stream';
import { setTimeout } from 'node:timers/promises';

/** What happens to the next `times` requests whose `METHOD /path` contains `match`. */
export interface Fault {
  match: string;
  times: number;
  /**
   * `lose`: the proxy does not forward the request, and cuts the connection. `lose-answer`: it forwards the request, but cuts
   * the connection before the answer. `hold`: it never answers. `silence`: it sends only the head of the answer. `late`: it
   * sends the answer 300 ms late.
   */
  how:
    | 'lose'
    | 'lose-answer'
    | 'hold'
    | 'silence'
    | 'late'
    | { status: number; headers?: Record<string, string>; body: string };
}

/** A request that the proxy has received. */
export interface Seen {
  /** `METHOD /path?query`. */
  line: string;
  token: string | undefined;
  lastEventId: string | undefined;
  at: number;
  /** When the platform answered the request; absent until then. */
  answeredAt?: number;
}

/** An HTTP proxy in front of a platform. The proxy causes faults on purpose. */
export class FaultyProxy implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly #server;
  readonly #sockets = new Set<Socket>();
  #faults: Fault[] = [];
  #isDown = false;

  private constructor(target: string) {
    this.#server = createServer((incoming, response) => this.#handle(target, incoming, response));
    this.#server.on('connection', (socket) => {
      if (this.#isDown) return void socket.destroy();
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  fault(fault: Fault): void {
    this.#faults.push({ ...fault });
  }

  /** Ends every connection, and refuses new ones until `up`. */
  down(): void {
    this.#isDown = true;
    this.cut();
  }

  up(): void {
    this.#isDown = false;
  }

  /** Ends every open connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.down();
  }

  #handle(target: string, incoming: IncomingMessage, response: ServerResponse): void {
    const line = `${incoming.method} ${incoming.url}`;
    const seen = incoming.method === 'OPTIONS' ? undefined : this.#see(line, incoming);
    const fault = seen && this.#take(line);
    if (fault === 'lose') return void incoming.socket.destroy();
    if (fault === 'hold') return;
    if (typeof fault === 'object') {
      const cors = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' };
      // If the proxy closed the connection while bytes are unread, the client could lose the answer.
      finished(incoming.resume(), () => {
        response.writeHead(fault.status, { ...cors, connection: 'close', ...fault.headers });
        response.end(fault.body);
      });
      return;
    }
    const { method, url, headers } = incoming;
    const outgoing = request(`${target}${url}`, { method, headers, agent: false }, async (answer) => {
      if (fault === 'late') await setTimeout(300);
      if (fault === 'lose-answer') {
        answer.resume();
        answer.once('end', () => incoming.socket.destroy());
        return;
      }
      // Each connection is used for one request only. If a request is lost on a connection that was used before, a browser
      // sends the request again without being asked.
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'close' });
      response.flushHeaders();
      answer.once('end', () => {
        if (seen) seen.answeredAt = Date.now();
      });
      answer.on('error', () => response.destroy());
      if (fault === 'silence') return;
      answer.pipe(response, { end: false });
      // If the platform answers before it has the whole request, the proxy reads and drops the rest. If it closed the connection
      // while bytes are unread, the client could lose the answer.
      answer.once('end', () => {
        finished(incoming.unpipe(outgoing).resume(), () => response.end());
      });
    });
    outgoing.on('error', () => {
      if (!response.headersSent) response.destroy();
    });
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  }

  #see(line: string, { headers }: IncomingMessage): Seen {
    const lastEventId = headers['last-event-id'];
    const seen: Seen = {
      line,
      token: headers.authorization?.replace('Bearer ', ''),
      lastEventId: lastEventId === undefined ? undefined : String(lastEventId),
      at: Date.now(),
    };
    this.seen.push(seen);
    return seen;
  }

  #take(line: string): Fault['how'] | undefined {
    const fault = this.#faults.find(({ match, times }) => times > 0 && line.includes(match));
    if (fault) fault.times--;
    return fault?.how;
  }
}
