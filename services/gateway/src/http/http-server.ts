import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Logger, listenSentence, StartError } from '@kith/base';
import { answerConnect, answerParserError } from './raw-answer.ts';

/** How long clients may take, in ms. */
export interface HttpTimeouts {
  /** For a request's headers. */
  headers: number;
  /** For a whole request, its body included. */
  request: number;
  /** For one that takes its time, an upload. */
  upload: number;
  /** For the next request on a connection; longer than that of the usual load balancers (60 s). */
  keepAlive: number;
  /** For the client to read its answer when the connection ends before its request has. */
  linger: number;
  /** The same of an upload, of which much may be on its way. */
  lingerUpload: number;
  /** For reading on in an answer that is whole. */
  unread: number;
  /** For requests that are being answered when the server stops. */
  drain: number;
}

/** How many connections are open at once; further ones are closed before anything is read of them. */
export interface ConnectionCaps {
  all: number;
  /** Of one address; absent where all come from a proxy's. */
  perAddress?: number | undefined;
}

const defaults: HttpTimeouts = {
  headers: 10_000,
  request: 30_000,
  upload: 600_000,
  keepAlive: 65_000,
  linger: 1_000,
  lingerUpload: 5_000,
  unread: 30_000,
  drain: 10_000,
};

export interface HttpServer {
  port: number;
  /** Answers with `Connection: close` from now on, and goes on serving. */
  drain(): void;
  /** Takes no more connections, answers what is there with `Connection: close`, ends what takes longer. */
  stop(): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const slow = new WeakSet<IncomingMessage>();
const slowSockets = new WeakSet<object>();

/** Lets the body of a request take as long as that of an upload may. */
export function takesItsTime(request: IncomingMessage): void {
  slow.add(request);
  slowSockets.add(request.socket);
}

/** Serves HTTP/1.1; what never becomes a request is answered with the envelope, too (spec#errors-envelope). */
export async function startHttpServer(options: {
  handler: Handler;
  host: string;
  port: number;
  /** The setting that the port comes from, for what is said where it is taken. */
  setting?: 'PORT' | 'ADMIN_PORT';
  log: Logger;
  timeouts?: Partial<HttpTimeouts> | undefined;
  caps: ConnectionCaps;
}): Promise<HttpServer> {
  const { handler, log, caps } = options;
  const timeouts = { ...defaults, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.upload,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headers),
    // A request without a body is no stream to be ended, resumed and destroyed (docs/adr/0023).
    optimizeEmptyRequests: true,
    // Node would answer these two itself, without the envelope.
    requireHostHeader: false,
  });
  server.maxConnections = caps.all;
  // Node tells of a connection on which nothing has moved: between two requests, and while the client reads nothing. What
  // is still being worked on is not the client's fault.
  server.setTimeout(timeouts.unread, (socket) => {
    const responses = [...(open.get(socket) ?? [])];
    if (responses.every(({ writableEnded }) => writableEnded)) socket.destroy();
  });
  const ofAddress = new Map<string, number>();
  /** Requests on their way, by connection. */
  const open = new Map<Socket, Set<ServerResponse>>();
  let draining = false;

  // Node has one time for all requests: that of uploads.
  const endLate = (request: IncomingMessage) => {
    if (request.complete || slow.has(request)) return;
    server.emit(
      'clientError',
      Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }),
      request.socket,
    );
  };
  const onRequest: Handler = (request, response) => {
    const { socket } = request;
    const responses = open.get(socket);
    // After an answer with `Connection: close` nothing more is worked on (RFC 9112 section 9.6).
    if (!responses || socket.writableEnded) return void socket.destroy();
    responses.add(response);
    const late = isSent(request) ? undefined : setTimeout(() => endLate(request), timeouts.request);
    response.on('close', () => {
      clearTimeout(late);
      responses.delete(response);
    });
    if (draining) response.setHeader('Connection', 'close');
    handler(request, response);
  };
  server.on('request', onRequest);
  // With a listener Node leaves the 100 to us: it is sent when the body is wanted, not before.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('connect', (_request, socket) => answerConnect(socket as Socket, log));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    answerParserError(error, socket as Socket, [...(open.get(socket as Socket) ?? [])], log);
  });
  server.on('connection', (socket) => {
    const address = caps.perAddress === undefined ? undefined : socket.remoteAddress;
    if (address !== undefined) {
      const count = (ofAddress.get(address) ?? 0) + 1;
      if (count > (caps.perAddress as number)) return void socket.destroy();
      ofAddress.set(address, count);
    }
    open.set(socket, new Set());
    socket.once('close', () => {
      open.delete(socket);
      if (address === undefined) return;
      const left = (ofAddress.get(address) ?? 1) - 1;
      if (left > 0) ofAddress.set(address, left);
      else ofAddress.delete(address);
    });
    // Node ends a connection by this after its last answer. Closed with bytes of the request unread, the kernel would
    // reset it, and the client could lose the answer: so it is ended, and closed when the client has seen that.
    socket.destroySoon = () => {
      if (socket.writable) socket.end();
      const linger = slowSockets.has(socket) ? timeouts.lingerUpload : timeouts.linger;
      setTimeout(() => socket.destroy(), linger).unref();
    };
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(new StartError(listenSentence(options.setting ?? 'PORT', options, error), { cause: error }));
    });
    server.listen(options.port, options.host, resolve);
  });

  let ended: Promise<void> | undefined;
  const drain = () => {
    draining = true;
    for (const responses of open.values()) {
      for (const response of responses) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
    }
  };
  const end = async () => {
    drain();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const [socket, responses] of open) {
      // Opened ahead of need, never used: Node does not count it as idle.
      if (responses.size === 0 && socket.bytesRead === 0) socket.destroy();
    }
    const late = setTimeout(() => {
      log.warn({ connections: open.size }, 'stopped with requests still in flight');
      server.closeAllConnections();
    }, timeouts.drain);
    await closed;
    clearTimeout(late);
  };
  return {
    port: (server.address() as AddressInfo).port,
    drain,
    stop() {
      ended ??= end();
      return ended;
    },
  };
}

/** Whether a request is known to have no body that is still to come. */
function isSent({ headers, complete }: IncomingMessage): boolean {
  return complete || (headers['transfer-encoding'] === undefined && headers['content-length'] === undefined);
}
