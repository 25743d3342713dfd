import type { IncomingMessage } from 'node:http';
import type { ErrorBody } from '@kith/contracts';
import { codeHeader, type Message, statusHeader } from '@kith/service';
import { expectsContinue, hasBody, maxBody } from './body.ts';
import { errorAnswer } from './error-answer.ts';
import type { HttpRequest, HttpResponse } from './exchange.ts';

/** Headers of a reply that reach the client; a service can set no others. */
const passed = new Map(
  [
    'Cache-Control',
    'Content-Disposition',
    'Content-Language',
    'Content-Type',
    'ETag',
    'Last-Modified',
    'Link',
    'Location',
    'Retry-After',
    'WWW-Authenticate',
  ].map((name) => [name.toLowerCase(), name]),
);

/**
 * Writes a service's reply: status and bytes as they are, headers by the list. Of an error that a client wants as a
 * problem the bytes are read. Throws on a reply without a status.
 */
export function answerReply(request: HttpRequest, response: HttpResponse, reply: Message): void {
  const head = headOf(response, reply);
  const { body } = reply;
  const isError = reply.headers[codeHeader] !== undefined;
  const answer = isError
    ? errorAnswer(request, response, { ...head, body: errorOf(body) })
    : { ...head, body };
  writeAnswer(request, response, answer);
}

function errorOf(body: Uint8Array): ErrorBody {
  return JSON.parse(new TextDecoder().decode(body));
}

interface Head {
  status: number;
  headers: Record<string, string>;
}

/** The status and those headers of a reply that reach the client. Throws on a reply without a status. */
export function headOf(response: HttpResponse, reply: Message): Head {
  const status = Number(reply.headers[statusHeader]);
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new Error(`${response.locals.operation} replied without a status.`);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(reply.headers)) {
    const known = passed.get(name.toLowerCase());
    if (known) headers[known] = value;
  }
  const code = reply.headers[codeHeader];
  if (code) response.locals.code = code;
  return { status, headers };
}

/**
 * Writes status and headers, those that every answer has and those set on the way among them. `false` when the client
 * has gone, or the connection has been answered for (see http-server).
 */
export function writeHead(response: HttpResponse, { status, headers }: Head): boolean {
  if (!response.writable || !response.socket?.writable) {
    response.destroy();
    return false;
  }
  const all = response.locals.headers;
  all['Cache-Control'] = 'no-store';
  // A 401 has to name a scheme, whoever says it (RFC 9110 section 15.5.2).
  if (status === 401) all['WWW-Authenticate'] = 'Bearer';
  Object.assign(all, headers);
  response.writeHead(status, asPairs(all));
  return true;
}

/**
 * Headers as a list of names and values in turn, which Node writes as they are. Set one by one, Node keeps and checks
 * each twice; an answer has about 25.
 */
function asPairs(headers: Record<string, string>): string[] {
  const pairs: string[] = [];
  for (const name in headers) pairs.push(name, headers[name] as string);
  return pairs;
}

/** Writes an answer that is held whole; to HEAD the same without its body. Only streams and exports end elsewhere. */
export function writeAnswer(
  request: IncomingMessage,
  response: HttpResponse,
  { status, headers, body }: Head & { body: Uint8Array },
): void {
  const { 'Content-Type': type, ...others } = headers;
  const isEmpty = status === 204 || status === 304;
  const ofBody: Record<string, string> = isEmpty ? {} : { 'Content-Length': String(body.length) };
  if (!isEmpty && type !== undefined) ofBody['Content-Type'] = type;
  if (leavesBodyUnread(request)) ofBody.Connection = 'close';
  if (!writeHead(response, { status, headers: Object.assign(others, ofBody) })) return;
  response.end(isEmpty || request.method === 'HEAD' ? undefined : body);
}

/**
 * Whether the connection can not go on after this answer: the rest of the body is too long, or of unknown length, to
 * be read only to be thrown away, or the client was not told to send it and may do either.
 */
function leavesBodyUnread(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return false;
  const declared = request.headers['content-length'];
  return declared === undefined || Number(declared) > maxBody || expectsContinue(request);
}
