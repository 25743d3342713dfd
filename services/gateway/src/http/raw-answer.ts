import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, type Logger, type Metrics } from '@kith/base';
import { type ErrorCode, errorBody, statusOf } from '@kith/contracts';
import { bytesOf } from './error-answer.ts';
import { knownMethod } from './known-method.ts';
import { refuseBody } from './refused-body.ts';
import { ofEveryAnswer } from './security-headers.ts';

/** Our codes for errors of Node's parser and timers. All other errors get `request/invalid-http`. */
const codes: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'request/headers-too-large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'request/too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request/timeout',
};

interface Telemetry {
  log: Logger;
  metrics: Metrics;
}

/** Connections that have had an error. Such a connection gets one more answer, and then ends. */
const failed = new WeakSet<Socket>();

/** Whether a connection has had an error. No further request on it is handled. */
export function hasFailed(socket: Socket): boolean {
  return failed.has(socket);
}

/**
 * Answers bytes that are not a request, and refuses requests that do not arrive completely. If there is no response object,
 * writes to the bare connection. `open` holds the answers on this connection that have not ended yet. These answers are sent
 * first.
 */
export function answerParserError(
  error: NodeJS.ErrnoException,
  socket: Socket,
  open: readonly ServerResponse[],
  telemetry: Telemetry,
): void {
  // The last answer on this connection is already written. Bytes that still arrive are ignored.
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // Each further piece of data causes another error, which is ignored.
  if (failed.has(socket)) return;
  failed.add(socket);
  // `write` may run later, so it uses `reason` and not `error`: the error would keep the received bytes in memory until then.
  const { code: reason } = error;
  const code = codes[reason ?? ''] ?? 'request/invalid-http';
  // The method may not have been read, so the request is counted without it.
  const write = () => writeRaw(socket, { method: '', code, reason }, telemetry);
  const [previous, last] = [open.at(-2), open.at(-1)];
  if (!last) write();
  else if (last.req.complete) after(socket, last, write);
  else if (!last.headersSent) {
    // The body of the last request is wrong or late. So the error is the answer to this request. This answer may take a while.
    // The handler of the request may be waiting for something else, and throws the error only after this wait.
    after(socket, last, () => {
      last.req.resume();
      socket.destroySoon();
    });
    refuseBody(last.req, new ApiError(code));
  } else {
    // The answer to this request has already begun.
    const end = () => (last.writableEnded ? socket.destroySoon() : socket.destroy());
    if (previous) after(socket, previous, end);
    else end();
  }
}

/**
 * Refuses CONNECT, because the gateway is no proxy. `open` holds the answers on this connection that have not ended yet. These
 * answers are sent first.
 */
export function answerConnect(socket: Socket, open: readonly ServerResponse[], telemetry: Telemetry): void {
  socket.on('error', () => socket.destroy());
  const headers = { Allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' };
  const code = 'route/method-not-allowed';
  const write = () => writeRaw(socket, { method: 'CONNECT', code, headers }, telemetry);
  const last = open.at(-1);
  if (!last) return void write();
  // Node has removed its own listener from this connection. Without this new listener, a long answer would stop at the first
  // full buffer.
  socket.on('drain', () => {
    for (const answer of open) answer.emit('drain');
  });
  after(socket, last, write);
}

/**
 * Calls `next` when `answer` is sent. Until then, no further bytes are read from the connection. After that, the remaining
 * bytes are read and thrown away. If bytes stayed unread, the client could lose the answer.
 */
function after(socket: Socket, answer: ServerResponse, next: () => void): void {
  socket.pause();
  answer.once('close', () => {
    socket.resume();
    next();
  });
}

function writeRaw(
  socket: Socket,
  refusal: { method: string; code: ErrorCode; headers?: Record<string, string>; reason?: string | undefined },
  { log, metrics }: Telemetry,
): void {
  if (!socket.writable) return;
  const { method, code, headers, reason } = refusal;
  const requestId = randomUUID();
  const status = statusOf(code);
  const body = bytesOf(errorBody(code));
  const lines = Object.entries({
    ...ofEveryAnswer,
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    Date: new Date().toUTCString(),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n`);
  socket.write(body);
  socket.destroySoon();
  metrics.httpRequests.inc({ operation: 'none', method: knownMethod(method), status: String(status) });
  log.info({ requestId, status, code, reason }, 'request');
}
