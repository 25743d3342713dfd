import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { addAbortSignal, Readable } from 'node:stream';
import {
  ApiError,
  listenSentence,
  type Metrics,
  type Secrets,
  StartError,
  traceFields,
  tracing,
  within,
} from '@kith/base';
import { type Message, statusHeader } from '@kith/bus';
import { type ErrorCode, methodsOf, type OperationSpec } from '@kith/contracts';
import type { Outbox } from '@kith/store';
import type { Logger } from 'pino';
import { Audit } from '../operations/audit.ts';
import { audited } from '../operations/audited.ts';
import type { RequestContext } from '../operations/context.ts';
import { isListed } from '../operations/is-listed.ts';
import { errorReply, successReply } from '../operations/reply.ts';
import { validatePart, validateQuery } from '../operations/validate.ts';
import type { BytesAnswer, HttpHandler, HttpRequest } from './http-handler.ts';
import { sendBytes } from './send-bytes.ts';
import { canonicalPath, verifiedContext } from './signed-context.ts';
import { storedHeader, storedText } from './stored-bytes.ts';

/** Where a service accepts requests over HTTP, and the secrets by which it recognises requests from a gateway. */
export interface HttpIntakeConfig {
  host: string;
  /** 0 picks a free port. */
  port: number;
  secrets: Secrets;
  /** How long to keep serving when the process is told to end, in ms; 0 by default. */
  drainMs?: number;
}

export interface HttpIntakeOptions<App> extends HttpIntakeConfig {
  handlers: readonly HttpHandler<App>[];
  app: App;
  log: Logger;
  metrics: Metrics;
  /** Whether answers are checked against the contract. */
  checkOutput: boolean;
  /** The outbox of the service's store. */
  outbox?: Outbox | undefined;
}

/** The HTTP server on which a service receives and sends bytes. */
export interface HttpIntake {
  /** `http://host:port` */
  readonly url: string;
  /** Answers with `Connection: close` from now on, and continues to serve. */
  drain(): void;
  /**
   * Accepts no more connections, and waits at most `ms` for requests on open connections. Then aborts the remaining requests.
   */
  stop(ms: number): Promise<void>;
}

/** The header that names the operation. */
export const operationHeader = 'kith-operation';

/**
 * How long the rest of a refused body is read and dropped, in ms. Without this wait, the connection could close before the
 * sender has read the answer.
 */
const dropMs = 5_000;
const keepAliveMs = 65_000;

/**
 * Serves operations whose bodies or answers are bytes. It trusts only requests that a gateway has signed. If such a request is
 * refused or fails, the answer has the same headers for status and code as a reply on the bus (docs/adr/0045).
 */
export async function serveHttp<App>(options: HttpIntakeOptions<App>): Promise<HttpIntake> {
  const { host, port, log } = options;
  const byName = new Map(options.handlers.map((one) => [one.spec.name as string, one]));
  const open = new Set<{ abort(): void; done: Promise<void>; response: ServerResponse }>();
  let isDraining = false;
  // The gateway has already checked the head of the client's request, and it limits how long the body may take. So no request
  // timeout is needed here.
  const server = createServer({
    ...{ requestTimeout: 0, keepAliveTimeout: keepAliveMs, headersTimeout: 10_000 },
    // The context holds the query, which may be as long as the whole head of a client's request. Base64 makes it longer.
    maxHeaderSize: 64 * 1024,
  });
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const gone = new AbortController();
    const one = { abort: () => gone.abort(), done: Promise.resolve(), response };
    if (isDraining) response.setHeader('Connection', 'close');
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    open.add(one);
    one.done = answer(byName, options, { request, response, gone }).finally(() => open.delete(one));
  };
  // Node calls `destroySoon` to end a connection after its last answer. If the service closed the connection while bytes of the
  // request are unread, the kernel would reset it, and the gateway could lose the answer. So the service first ends only its
  // own side. It closes the connection later, after the gateway has had time to read the answer.
  server.on('connection', (socket) => {
    socket.destroySoon = () => {
      if (socket.writable) socket.end();
      setTimeout(() => socket.destroy(), dropMs).unref();
    };
  });
  server.on('request', take);
  server.on('checkContinue', take);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      reject(new StartError(listenSentence('HTTP_PORT', { host, port }, error), { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const at = host.includes(':') ? `[${host}]` : host;
  const url = `http://${at}:${(server.address() as AddressInfo).port}`;
  log.info({ url }, 'serves bytes');
  const drain = () => {
    isDraining = true;
    for (const { response } of open) if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  return {
    url,
    drain,
    async stop(ms) {
      drain();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const ended = async () => {
        // If the head of an answer was sent before the drain, it has no `Connection: close`. The connection may then bring
        // another request. This loop runs until no request is open.
        while (open.size > 0) await Promise.all([...open].map(({ done }) => done));
        return true;
      };
      if (!(await within(ended(), ms))) {
        for (const { abort } of open) abort();
        await within(ended(), 1_000);
      }
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Taken {
  request: IncomingMessage;
  response: ServerResponse;
  gone: AbortController;
}

async function answer<App>(
  byName: ReadonlyMap<string, HttpHandler<App>>,
  options: HttpIntakeOptions<App>,
  { request, response, gone }: Taken,
): Promise<void> {
  const { metrics } = options;
  const known = knownRequest(byName, options.secrets, request);
  if (!known) {
    options.log.warn(
      { method: request.method },
      'refused a request: it is not signed by a gateway with the same KITH_SECRET, or its signature has expired',
    );
    return refuseUnsigned(request, response);
  }
  const { served, context } = known;
  const { spec } = served;
  const operation = spec.name;
  const { requestId, traceparent } = context;
  const span = tracing()?.start(operation, { kind: 'server', parent: traceparent });
  const log = options.log.child({
    requestId,
    ...traceFields(span?.traceparent ?? traceparent),
    operation,
  });
  const stop = metrics.operationSeconds.startTimer({ operation });
  metrics.operationsInFlight.inc();
  let status = 'aborted';
  let code: ErrorCode | undefined;
  const work = async () => {
    const audit = new Audit(spec, context);
    const asked = requestOf(spec, { request, context, audit, gone, log });
    const handle = () => served.handle(asked, options.app);
    const output = await audited(audit, { outbox: options.outbox, log: () => log }, handle);
    if (spec.kind === 'download') {
      const bytes = output as BytesAnswer;
      status = String(bytes.status);
      return await writeBytes(response, bytes, gone.signal);
    }
    if (options.checkOutput) spec.output.parse(output);
    status = String(spec.status);
    write(request, response, successReply(spec.status, output, {}));
  };
  try {
    await (span ? span.run(work) : work());
  } catch (error) {
    // If the client has disconnected, nobody waits for an answer.
    if (!gone.signal.aborted) {
      const known = error instanceof ApiError && isListed(spec, error.code) ? error : undefined;
      if (!known) log.error({ err: error }, 'operation failed');
      code = known?.code ?? (`${spec.feature}/server-error` as ErrorCode);
      const reply = errorReply(code, known);
      Object.assign(reply.headers, known?.headers);
      status = reply.headers[statusHeader] ?? '';
      if (response.headersSent) response.destroy();
      else write(request, response, reply);
    }
  } finally {
    metrics.operationsInFlight.dec();
    stop({ status });
    const isFailed = code !== undefined && Number(status) >= 500;
    const outcome = status === 'aborted' ? 'expired' : code ? (isFailed ? 'failed' : 'refused') : 'ok';
    metrics.operations.inc({ operation, outcome, code: code ?? '' });
    span?.end(isFailed ? code : undefined);
  }
}

/**
 * The operation and the context of a request. Returns `undefined` if the service does not have the operation, or if the request
 * has no valid signature of a gateway for this operation, context, method and path.
 */
function knownRequest<App>(
  byName: ReadonlyMap<string, HttpHandler<App>>,
  secrets: Secrets,
  request: IncomingMessage,
): { served: HttpHandler<App>; context: RequestContext } | undefined {
  const { method = '', url: path = '', headers } = request;
  const served = byName.get(String(headers[operationHeader]));
  if (!served) return undefined;
  const methods: readonly string[] = methodsOf(served.spec);
  if (!methods.includes(method === 'HEAD' ? 'GET' : method)) return undefined;
  const context = verifiedContext(secrets, { method, path, operation: served.spec.name }, headers);
  if (!context || canonicalPath(served.spec, context) !== path) return undefined;
  return { served, context };
}

function requestOf(
  spec: OperationSpec,
  of: {
    request: IncomingMessage;
    context: RequestContext;
    audit: Audit;
    gone: AbortController;
    log: Logger;
  },
): HttpRequest<OperationSpec> {
  const { context } = of;
  return {
    ...context,
    audit: of.audit,
    params: validatePart(spec, 'params', context.params),
    query: validateQuery(spec, context.query),
    incoming: of.request,
    fields: (given: Record<string, unknown>) => validatePart(spec, 'body', given),
    signal: of.gone.signal,
    log: of.log,
  } as unknown as HttpRequest<OperationSpec>;
}

/**
 * Refuses a request that no gateway seems to have sent. The answer lacks the status header of a reply. So if a gateway did send
 * the request, the gateway answers `gateway/unavailable` to its client. A gateway's own request is refused if gateway and
 * service have different clocks or secrets, or if one of the two processes was frozen for a while. The client can do nothing
 * about any of these causes.
 */
function refuseUnsigned(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(403, { 'Content-Length': 0 });
  response.end();
  dropRest(request);
}

/** Writes an answer that is complete in memory. Reads and drops the rest of the request's body. */
function write(request: IncomingMessage, response: ServerResponse, { headers, body }: Message): void {
  const { [statusHeader]: status, ...rest } = headers;
  response.writeHead(Number(status), {
    ...rest,
    [statusHeader]: status,
    'Content-Length': body.length,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
  dropRest(request);
}

/** Reads and drops the rest of a request's body, for at most `dropMs`. */
function dropRest(request: IncomingMessage): void {
  if (request.complete) return;
  request.unpipe();
  request.resume();
  const late = setTimeout(() => request.destroy(), dropMs);
  request.once('close', () => clearTimeout(late));
}

/** Writes the answer of a download. If its bytes are at `stored`, the gateway sends them. */
async function writeBytes(
  response: ServerResponse,
  { status, headers, body, stored }: BytesAnswer,
  signal: AbortSignal,
): Promise<void> {
  const all = { ...headers, [statusHeader]: String(status) };
  const { 'Content-Length': length = '0' } = headers;
  if (stored) {
    const place = {
      [storedHeader]: storedText({ ...stored, length: Number(length) }),
      'Content-Length': '0',
    };
    return void response.writeHead(status, { ...all, ...place }).end();
  }
  response.writeHead(status, all);
  if (!body) return void response.end();
  // Stops reading when the client has disconnected. Otherwise, the process would go on waiting if the store that delivers the
  // bytes hangs.
  if (body instanceof Readable) addAbortSignal(signal, body);
  try {
    await sendBytes(response, body, { length: Number(length), signal });
  } catch (error) {
    response.destroy();
    throw error;
  }
}
