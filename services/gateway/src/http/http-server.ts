import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Logger, listenSentence, type Metrics, StartError } from '@kith/base';
import { LogPace } from './log-pace.ts';
import { answerConnect, answerParserError, hasFailed } from './raw-answer.ts';

/** How long clients may take, in ms. */
export interface HttpTimeouts {
  /** How long the headers of a request may take to arrive. */
  headers: number;
  /** How long a whole request with its body may take to arrive. */
  request: number;
  /** How long a whole upload may take to arrive. */
  upload: number;
  /**
   * How long a connection may wait for its next request. This is longer than load balancers usually keep an idle connection (60
   * s).
   */
  keepAlive: number;
  /**
   * How long the client may send nothing, after its answer, if the gateway ends the connection before the whole request has
   * arrived. A client that sends the whole request before it reads then still gets its answer.
   */
  linger: number;
  /**
   * The same as `linger`, but for an upload. It is a separate time because many bytes of an upload may still be on their way.
   */
  lingerUpload: number;
  /** How long the client may go on sending after its answer. The bytes are dropped. */
  lingerMost: number;
  /** How long the client may pause while it reads an answer that is completely written. */
  unread: number;
  /** How long requests may still take to be answered when the server stops. */
  drain: number;
}

/** How many connections may be open at the same time. Further connections are closed before anything is read from them. */
export interface ConnectionCaps {
  all: number;
  /** Whether the client of a new connection may have one more connection. Absent if all connections come from a proxy. */
  admits?: ((socket: Socket) => boolean) | undefined;
}

const defaults: HttpTimeouts = {
  headers: 10_000,
  request: 30_000,
  upload: 600_000,
  keepAlive: 65_000,
  linger: 1_000,
  lingerUpload: 5_000,
  lingerMost: 30_000,
  unread: 30_000,
  drain: 10_000,
};

export interface HttpServer {
  port: number;
  /** Answers with `Connection: close` from now on, and goes on serving. */
  drain(): void;
  /**
   * Accepts no more connections and answers the current requests with `Connection: close`. Cuts off requests that take too
   * long.
   */
  stop(): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const slow = new WeakSet<IncomingMessage>();
const slowSockets = new WeakSet<object>();

/** Allows the body of a request as much time as an upload has. */
export function takesItsTime(request: IncomingMessage): void {
  slow.add(request);
  slowSockets.add(request.socket);
}

/** Serves HTTP/1.1. Bytes that are not a valid request are answered with the envelope, too (spec#errors-envelope). */
export async function startHttpServer(options: {
  handler: Handler;
  host: string;
  port: number;
  /** The setting that the port comes from, for the message if the port is taken. */
  setting?: 'PORT' | 'ADMIN_PORT';
  log: Logger;
  metrics: Metrics;
  timeouts?: Partial<HttpTimeouts> | undefined;
  caps: ConnectionCaps;
}): Promise<HttpServer> {
  const { handler, log, metrics, caps } = options;
  const timeouts = { ...defaults, ...options.timeouts };
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.upload,
    keepAliveTimeout: timeouts.keepAlive,
    connectionsCheckingInterval: Math.min(1_000, timeouts.headers),
    // Without this option, Node would have to end, resume and destroy a stream even for a request without a body
    // (docs/adr/0023).
    optimizeEmptyRequests: true,
    // With `true`, Node would answer a missing Host itself, without the envelope.
    requireHostHeader: false,
  });
  // A client may end its side of the connection after its request (RFC 9112 section 9.6). With `httpAllowHalfOpen`, the request
  // is carried out all the same, and the client gets the answer. Node's types lack this option. Only a stream ends when the
  // client ends its side (see EventWriter).
  Object.assign(server, { httpAllowHalfOpen: true });
  server.maxConnections = caps.all;
  // Node calls this function for a connection on which no bytes have moved for `timeouts.unread`. Either the connection is
  // between two requests, or the client reads nothing. If an answer is not completely written yet, the client is not the cause,
  // and the connection stays open.
  server.setTimeout(timeouts.unread, (socket) => {
    const responses = [...(open.get(socket) ?? [])];
    if (responses.every(({ writableEnded }) => writableEnded)) socket.destroy();
  });
  /** The answers that are not closed yet, by connection. */
  const open = new Map<Socket, Set<ServerResponse>>();
  let draining = false;

  // Node has only one time limit for all requests, and here this is the limit of uploads. So this function ends the requests
  // that are late and are not uploads.
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
    // After an answer with `Connection: close` no further request is handled (RFC 9112 section 9.6).
    if (!responses || socket.writableEnded) return void socket.destroy();
    // The connection has had an error and ends after the answer to an earlier request. So this request is ignored.
    if (hasFailed(socket)) return;
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
  // With this listener, Node sends no `100 Continue` itself. The gateway sends it, but only if it wants the body.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  const openOn = (socket: Socket) => [...(open.get(socket) ?? [])];
  server.on('connect', (_request, socket: Socket) => {
    // For CONNECT, Node removes its own listener for `timeout`, which would call the function that is passed to `setTimeout`
    // above. This listener replaces it.
    socket.on('timeout', () => server.emit('timeout', socket));
    answerConnect(socket, openOn(socket), options);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    answerParserError(error, socket as Socket, openOn(socket as Socket), options);
  });
  const pace = new LogPace();
  const noteRefused = (reason: 'all' | 'address') => {
    metrics.httpConnectionsRefused.inc({ reason });
    const told = pace.next(reason);
    const setting = reason === 'all' ? 'MAX_CONNECTIONS' : 'MAX_CONNECTIONS_PER_ADDRESS';
    if (told)
      log.warn({ connections: open.size, ...told }, `refused a connection: ${setting} allows no more`);
  };
  // Node has closed the connection, because `maxConnections` are open.
  server.on('drop', () => noteRefused('all'));
  server.on('connection', (socket) => {
    if (caps.admits?.(socket) === false) {
      noteRefused('address');
      return void socket.destroy();
    }
    open.set(socket, new Set());
    metrics.httpConnectionsOpen.inc();
    socket.once('close', () => {
      open.delete(socket);
      metrics.httpConnectionsOpen.dec();
    });
    // Node calls this to end a connection after its last answer. If the gateway closed the connection while bytes of the
    // request are unread, the kernel would reset it. The client could then lose the answer. So the gateway first ends its own
    // side. It closes the connection later, when the client sends no more and has had time to see the end.
    socket.destroySoon = () => {
      if (socket.writable) socket.end();
      const until = performance.now() + timeouts.lingerMost;
      let before = socket.bytesRead;
      const linger = slowSockets.has(socket) ? timeouts.lingerUpload : timeouts.linger;
      const closing = setInterval(() => {
        const isOver = socket.bytesRead === before || performance.now() > until;
        before = socket.bytesRead;
        if (!isOver) return;
        clearInterval(closing);
        socket.destroy();
      }, linger).unref();
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
      // A client may have opened this connection in advance and never used it. Node does not count such a connection as idle,
      // so `server.close()` does not end it.
      if (responses.size === 0 && socket.bytesRead === 0) socket.destroy();
    }
    const late = setTimeout(() => {
      log.warn({ connections: open.size }, 'stopped with requests still in flight');
      // `closeAllConnections` would not close a connection that was used for CONNECT.
      for (const socket of open.keys()) socket.destroy();
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

/** Whether nothing more of a request can come. This is so if the request is complete, or if its headers announce no body. */
function isSent({ headers, complete }: IncomingMessage): boolean {
  return complete || (headers['transfer-encoding'] === undefined && headers['content-length'] === undefined);
}
