import type { ClientRequest, IncomingMessage } from 'node:http';
import { Stream } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ApiError, type Logger, type Metrics, type Secrets, traceparentHeader } from '@kith/base';
import { codeHeader, statusHeader } from '@kith/bus';
import { type OperationSpec, serviceOf } from '@kith/contracts';
import {
  canonicalPath,
  folderHeader,
  operationHeader,
  type RequestContext,
  sendBytes,
  signContext,
  storedHeader,
  validatePart,
} from '@kith/service';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { answerReply, cutOff, headOf, leavesBodyUnread, writeHead } from '../http/answer.ts';
import { expectsContinue } from '../http/body.ts';
import { type HttpRequest, type HttpResponse, logFieldsOf } from '../http/exchange.ts';
import { LogPace } from '../http/log-pace.ts';
import { checkRefused, onRefused } from '../http/refused-body.ts';
import { ByteAgent, freeWritten, longBytes, passBytes } from './byte-agent.ts';
import { SharedFolder } from './shared-folder.ts';
import { watchSender } from './slow-sender.ts';
import { checkUpload } from './upload.ts';
import { invalidAnswer, timedOut, UpstreamFailure, unreadable } from './upstream-failure.ts';

/** How long the gateway waits, in ms. */
export interface UpstreamTimes {
  /** The time for the next bytes of a body. */
  idle: number;
  /**
   * The time for the answer after the whole body has come. The service may have to read and render an image in this time. It is
   * also the time for the service to take further bytes of a body.
   */
  answer: number;
  /** How long the client may pause while it reads its answer. */
  unread: number;
}

const defaults: UpstreamTimes = { idle: 30_000, answer: 60_000, unread: 60_000 };

export interface UpstreamOptions {
  /** The addresses of services that receive or send files, by the name of the service. */
  urls: Readonly<Record<string, string>>;
  /** The secrets by which the services in `urls` recognise this gateway. */
  secrets: Secrets | undefined;
  /** How long a service may take to begin an answer that needs no body. */
  requestTimeoutMs: number;
  log: Logger;
  metrics: Metrics;
  /** The folder of files, if this process can read it. Downloads are then read from this folder. */
  folder?: string | undefined;
  times?: Partial<UpstreamTimes> | undefined;
}

/** A request as it is passed on to a service. */
export interface StreamedRequest {
  operation: OperationSpec;
  context: Omit<RequestContext, 'deadline'>;
}

/** The data of a request while it is proxied. */
interface Way {
  target: string;
  isUpload: boolean;
  outgoing?: ClientRequest;
  /** Restores the request's own address and headers, because the answer depends on them. */
  restore(): void;
  resolve(): void;
  reject(error: unknown): void;
  answer(reply: IncomingMessage): void;
}

type Proxy = (request: IncomingMessage, response: HttpResponse, next: (error?: unknown) => void) => unknown;

/**
 * The headers of the client that the gateway passes on to a service. They describe the body, ask for a part of the answer, or
 * ask for the answer only on a condition.
 */
const forwarded = [
  'content-type',
  'content-length',
  'transfer-encoding',
  'range',
  'if-range',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
];
/** The longest body of an error or of a JSON answer. These bodies are held completely in memory. */
const longestError = 64 * 1024;

/**
 * Proxies requests whose bodies or answers are files. Such a request goes to its service over HTTP, with http-proxy-middleware
 * (docs/adr/0045). The gateway has already checked the route, the limit and the token. Passes on only the body, a few headers
 * and the signed context. The context is sent in place of all other headers.
 */
export class Upstreams {
  readonly #options: UpstreamOptions;
  readonly #times: UpstreamTimes;
  readonly #agent = new ByteAgent({ keepAlive: true, maxFreeSockets: 32 });
  readonly #ways = new WeakMap<IncomingMessage, Way>();
  readonly #upload = this.#proxy();
  readonly #download = this.#proxy({ buffer: new NoBody() });
  readonly #pace = new LogPace();
  readonly #folder: SharedFolder | undefined;

  constructor(options: UpstreamOptions) {
    this.#options = options;
    this.#times = { ...defaults, ...options.times };
    this.#folder = options.folder === undefined ? undefined : new SharedFolder(options.folder);
  }

  /**
   * Answers with the service's answer. Throws `gateway/unavailable`, `gateway/timeout`, a code that says what is wrong with the
   * body, or the error of a refused body.
   */
  async answer(request: HttpRequest, response: HttpResponse, streamed: StreamedRequest): Promise<void> {
    try {
      await this.#forward(request, response, streamed);
    } catch (error) {
      if (error instanceof UpstreamFailure) this.#note(error, streamed.operation, response);
      throw error;
    }
  }

  #note({ reason, cause }: UpstreamFailure, operation: OperationSpec, response: HttpResponse): void {
    const { log, metrics } = this.#options;
    const service = serviceOf(operation);
    metrics.upstreamFailures.inc({ service, reason });
    const told = this.#pace.next(`${service} ${reason}`);
    if (!told) return;
    const line = { ...logFieldsOf(response), operation: operation.name, upstream: service, reason };
    log.warn({ err: cause, ...line, ...told }, 'a request to a service over HTTP has failed');
  }

  async #forward(request: HttpRequest, response: HttpResponse, streamed: StreamedRequest): Promise<void> {
    const { operation } = streamed;
    const url = this.#options.urls[serviceOf(operation)];
    const { secrets } = this.#options;
    const { upload } = operation;
    if (upload) checkUpload(request, upload);
    checkRefused(request);
    // A parameter such as `..` would change the path on its way to the service, but the signature is for one exact path. So the
    // parameters are checked first.
    validatePart(operation, 'params', streamed.context.params);
    if (url === undefined || secrets === undefined) {
      const cause = new Error('UPSTREAMS has no address of the service, or KITH_SECRET is not set.');
      throw new UpstreamFailure('gateway/unavailable', 'no_address', cause);
    }
    const path = canonicalPath(operation, streamed.context);
    if (upload && expectsContinue(request)) response.writeContinue();
    const { headers, url: address } = request;
    const restore = () => Object.assign(request, { headers, url: address });
    const ask = async (folderId?: string) => {
      const signed = this.#headersFor(request, streamed, { secrets, path });
      // The proxy parses `request.url`, but some addresses of clients are not valid URLs. So the path for the service replaces
      // the address.
      request.url = path;
      request.headers = { ...signed, ...(folderId && { [folderHeader]: folderId }) };
      try {
        const target = `${url}${path}`;
        await this.#send(request, response, { target, operation, restore });
      } finally {
        restore();
      }
    };
    try {
      await ask(operation.kind === 'download' ? await this.#folder?.id() : undefined);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      await ask();
    }
  }

  stop(): void {
    this.#agent.destroy();
  }

  #proxy(options: { buffer?: Stream } = {}): Proxy {
    return createProxyMiddleware<IncomingMessage, HttpResponse>({
      ...options,
      agent: this.#agent,
      // The target already contains the path of the request, so the proxy must not append it.
      ignorePath: true,
      router: (request) => this.#ways.get(request)?.target ?? '',
      selfHandleResponse: true,
      on: {
        proxyReq: (outgoing, request) => {
          const way = this.#ways.get(request);
          if (way) {
            way.outgoing = outgoing;
            way.restore();
          }
          freeWritten(outgoing);
        },
        proxyRes: (reply, request) => this.#ways.get(request)?.answer(reply),
        // Without this handler, the request would hang after an error.
        error: (error, request) => {
          const way = this.#ways.get(request);
          if (way) way.reject(brokenOff(way, error));
        },
      },
    });
  }

  #headersFor(
    request: HttpRequest,
    { operation, context }: StreamedRequest,
    { secrets, path }: { secrets: Secrets; path: string },
  ): NodeJS.Dict<string> {
    const headers: NodeJS.Dict<string> = {};
    for (const name of forwarded) {
      const value = request.headers[name];
      if (typeof value === 'string') headers[name] = value;
    }
    if (operation.kind === 'download') {
      // A GET has no body here. If the client sends one, it is not passed on.
      for (const name of ['content-type', 'content-length', 'transfer-encoding']) delete headers[name];
    }
    const signed = { method: request.method, path, operation: operation.name };
    const { traceparent } = context;
    return {
      ...headers,
      ...(traceparent && { [traceparentHeader]: traceparent }),
      ...signContext(secrets, signed, context),
      [operationHeader]: operation.name,
    };
  }

  #send(
    request: HttpRequest,
    response: HttpResponse,
    { target, operation, restore }: { target: string; operation: OperationSpec; restore(): void },
  ): Promise<void> {
    const { idle, answer } = this.#times;
    const isUpload = operation.upload !== undefined;
    return new Promise<void>((resolve, reject) => {
      let isAnswered = false;
      let late: NodeJS.Timeout | undefined;
      const wait = (ms: number) => {
        late = setTimeout(() => fail(timedOut(`The service has not answered in ${ms} ms.`)), ms);
      };
      const settle = () => {
        clearTimeout(late);
        unwatch?.();
      };
      const fail = (error: unknown) => {
        if (isAnswered) return;
        isAnswered = true;
        settle();
        if (way.outgoing) {
          request.unpipe(way.outgoing);
          way.outgoing.destroy();
          // The rest of the body is read and thrown away. Otherwise the client would lose the answer, or its next request would
          // never be read (spec#storage-early-refusal).
          request.resume();
        }
        reject(error);
      };
      const way: Way = {
        target,
        isUpload,
        restore,
        resolve,
        reject: fail,
        answer: (reply) => {
          if (isAnswered) return void reply.destroy();
          isAnswered = true;
          settle();
          this.#pass(request, response, { reply, operation }).then(resolve, reject);
        },
      };
      const unwatch = isUpload
        ? watchSender(request, {
            idleMs: idle,
            stuckMs: answer,
            isHeld: () => way.outgoing?.writableNeedDrain ?? false,
            onIdle: () => fail(new ApiError('request/timeout')),
            onStuck: () => fail(timedOut(`The service has taken no bytes for ${answer} ms.`)),
            onWhole: () => wait(answer),
          })
        : undefined;
      if (!isUpload) wait(this.#options.requestTimeoutMs);
      onRefused(request, fail);
      response.once('close', () => {
        settle();
        resolve();
      });
      // Each side of the proxy listens for the end of both sides. So there are more listeners than Node expects.
      response.setMaxListeners(20);
      this.#ways.set(request, way);
      const proxy = isUpload ? this.#upload : this.#download;
      // The proxy calls this function if it does not handle the request.
      proxy(request, response, (error) => fail(brokenOff(way, error)));
    });
  }

  async #pass(
    request: HttpRequest,
    response: HttpResponse,
    { reply, operation }: { reply: IncomingMessage; operation: OperationSpec },
  ): Promise<void> {
    const headers = textHeaders(reply);
    if (headers[statusHeader] === undefined) {
      // The reply lacks the status header that our services send. Either some other program has answered, or the service
      // considers the request unsigned (docs/adr/0045).
      reply.resume();
      throw invalidAnswer(
        `The answer has the status ${reply.statusCode}, but lacks the header ${statusHeader}.`,
      );
    }
    if (headers[codeHeader] !== undefined || headers['Content-Type'] === 'application/json') {
      return answerReply(request, response, { headers, body: await readAll(reply) });
    }
    const stored = headers[storedHeader];
    const shared = stored === undefined ? undefined : await this.#folder?.open(stored);
    if (stored !== undefined) {
      reply.resume();
      if (!shared) throw new Unreadable();
      headers['Content-Length'] = String(shared.length);
    }
    const head = headOf(response, { headers, body: new Uint8Array() });
    for (const name of ['Content-Length', 'Accept-Ranges']) {
      const value = headers[name];
      if (value !== undefined) head.headers[name] = value;
    }
    // Pages that are cross-origin isolated can load the file only with this header. The header alone gives nobody access: CORS
    // and the token decide who gets a file.
    head.headers['Cross-Origin-Resource-Policy'] = 'cross-origin';
    if (leavesBodyUnread(request)) head.headers.Connection = 'close';
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    if (!writeHead(response, head)) {
      gone.abort();
      if (!shared) return void reply.destroy();
    }
    // If no bytes move for this time, the client has stopped reading. Its connection is then closed.
    response.setTimeout(this.#times.unread, () => cutOff(response));
    const length = Number(headers['Content-Length'] ?? 0);
    const isLong = length >= longBytes && hasBytes(request, reply);
    const pass = () => {
      if (shared) return sendBytes(response, shared.bytes, { length, signal: gone.signal });
      return isLong ? passBytes(reply, response, length) : pipeline(reply, response);
    };
    await pass().catch((error: unknown) => {
      if (shared && !gone.signal.aborted) this.#note(unreadable(stored, error), operation, response);
      // The client or the service has closed its connection, or the file cannot be read. Closing the client's connection shows
      // the client that the answer is not complete.
      cutOff(response);
    });
  }
}

/**
 * A download uses this empty body in place of the client's body. Node does not frame the body of a GET. If the client's body
 * were passed on, the service would take it for the beginning of the next request on the connection.
 */
class NoBody extends Stream {
  override pipe<T extends NodeJS.WritableStream>(outgoing: T): T {
    outgoing.end();
    return outgoing;
  }
}

/** Thrown if the service has found bytes in the folder, but the gateway cannot read them. The service then sends the bytes. */
class Unreadable extends Error {}

/** Whether the answer has bytes after its head. The answer has none if the request is a HEAD, or if the file is unchanged. */
function hasBytes({ method }: HttpRequest, { statusCode }: IncomingMessage): boolean {
  return method !== 'HEAD' && statusCode !== 304;
}

/**
 * The headers, with the names spelled as they were sent. Node would lower-case the names, but headers of the bus are looked up
 * by the exact name.
 */
function textHeaders({ rawHeaders }: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    headers[name] = rawHeaders[at + 1] as string;
  }
  return headers;
}

async function readAll(reply: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of reply as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > longestError) throw invalidAnswer(`The answer has more than ${longestError} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The error for a service that cannot be reached, or has closed the connection without an answer. If all bytes of an upload
 * have gone to the service, the service may have stored the file before it failed. In this case, `gateway/unavailable` would be
 * wrong, because it says that nothing was done.
 */
function brokenOff({ isUpload, outgoing }: Way, error: unknown): UpstreamFailure {
  const mayBeDone = isUpload && outgoing?.writableFinished === true;
  return new UpstreamFailure(
    mayBeDone ? 'gateway/timeout' : 'gateway/unavailable',
    'connection_failed',
    error,
  );
}
