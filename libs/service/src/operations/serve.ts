import { setImmediate as nextTurn } from 'node:timers/promises';
import { ApiError, DeadlinePassed, type Metrics, traceFields } from '@kith/base';
import {
  type Bus,
  codeHeader,
  type Intake,
  type Message,
  maxPayload,
  messageSize,
  statusHeader,
} from '@kith/bus';
import { internalSubject, isErrorCode, type OperationSpec, rpcSubject, serviceOf } from '@kith/contracts';
import type { Outbox, Replies } from '@kith/store';
import type { Logger } from 'pino';
import type { Admission } from './admission.ts';
import { type Answer, answerOnce } from './answer-once.ts';
import { Audit } from './audit.ts';
import { type AuditLog, audited } from './audited.ts';
import { decodeContext, type RequestContext } from './context.ts';
import type { InternalHandler, OperationHandler, OperationRequest } from './handler.ts';
import { isListed, type Listing } from './is-listed.ts';
import { errorReply, shedReply, successReply } from './reply.ts';
import { parseJsonObject, unreadKeys, validateRequest } from './validate.ts';

export interface ServeOptions<App> {
  bus: Bus;
  log: Logger;
  metrics: Metrics;
  app: App;
  /**
   * Whether answers are checked against the contract. They are checked outside production, so that tests notice every
   * difference.
   */
  checkOutput: boolean;
  /**
   * Whether a warning is logged if a body has keys that nothing reads. The warning names these keys. Use it for development.
   */
  namesUnread?: boolean;
  /**
   * Limits how many operations are worked on at the same time. Calls between services have no limit of their own. Operations
   * make these calls, so the limit of operations also limits the calls. If a limit could turn away such a call, the operation
   * that makes the call could fail after it has already made a change.
   */
  admission?: Admission | undefined;
  /** Where the service stores answers to requests with an idempotency key. */
  replies?: Replies | undefined;
  /** The outbox of the service's store. */
  outbox?: Outbox | undefined;
  /** Where the service keeps the audit log, if it keeps one. */
  auditLog?: AuditLog | undefined;
}

/** Checking a body with at least this many bytes takes milliseconds. */
const largeBody = 64 * 1024;

/**
 * Serves an operation of the HTTP API. It reads context and payload, validates, waits for the handler, replies, and measures.
 */
export function serveOperation<App>(
  served: OperationHandler<App>,
  options: ServeOptions<App>,
): Promise<Intake> {
  const { spec } = served;
  return serveSubject(rpcSubject(options.bus.prefix, spec), spec, options, async (message, asked) => {
    const { params, query } = asked.context;
    const body = parseJsonObject(message.body);
    const isServerKey = asked.context.serverKey !== undefined && asked.context.caller === null;
    const valid = validateRequest(spec, { body, query, params, isServerKey });
    if (options.namesUnread) {
      const unread = unreadKeys(spec, body, { isServerKey });
      if (unread.length > 0) asked.log().warn({ unread }, 'the body has keys that nothing reads');
    }
    const answer = async (): Promise<Answer> => {
      const headers: Record<string, string> = {};
      const audit = new Audit(spec, asked.context);
      const request = {
        ...asked.context,
        ...valid,
        audit,
        get log() {
          return asked.log();
        },
        setHeader: (name: string, value: string) => {
          headers[name] = value;
        },
        linkNext: (cursor: string) => {
          headers.Link = nextLink(query, cursor, valid.query as { limit?: unknown });
        },
      } as OperationRequest<OperationSpec>;
      const { outbox, auditLog } = options;
      const work = () => served.handle(request, options.app);
      const output = await audited(audit, { outbox, auditLog, log: asked.log }, work);
      if (options.checkOutput && spec.status !== 204) (spec.parts?.head ?? spec.output).parse(output);
      return { output, reply: successReply(spec.status, output, headers, spec.contentType) };
    };
    // Checking a large body has blocked the event loop for some milliseconds. In the embedded form, nothing else yields to the
    // event loop. This pause lets the process handle other requests.
    if (message.body.length > largeBody) await nextTurn();
    const { replies } = options;
    if (asked.context.idempotencyKey === undefined || !replies) return (await answer()).reply;
    const { context, log } = asked;
    const { replayed } = served;
    const revise = replayed && ((output: unknown) => replayed(output, options.app));
    return answerOnce({ spec, context, body: message.body }, { replies, answer, revise, log });
  });
}

/** Serves an operation that other services call. */
export function serveInternal<App>(
  served: InternalHandler<App>,
  options: ServeOptions<App>,
): Promise<Intake> {
  const { spec } = served;
  return serveSubject(
    internalSubject(options.bus.prefix, spec),
    spec,
    options,
    async (message, { context }) => {
      const body = spec.body.parse(parseJsonObject(message.body));
      const output = await served.handle(body as never, options.app, context);
      return successReply(200, output, {});
    },
  );
}

interface Named extends Listing {
  name: string;
}

interface Asked {
  context: RequestContext;
  /**
   * Returns the logger that adds the request's id. The logger is made with the first line, because most requests log nothing.
   */
  log: () => Logger;
}

function serveSubject<App>(
  subject: string,
  spec: Named,
  options: ServeOptions<App>,
  work: (message: Message, asked: Asked) => Promise<Message>,
): Promise<Intake> {
  const { bus, metrics, admission } = options;
  return bus.serve(subject, serviceOf(spec), async (message) => {
    const { receivedAt = Date.now(), waitedMs = 0 } = message;
    const context = decodeContext(message.headers, receivedAt - waitedMs);
    const { requestId, deadline, traceparent } = context;
    const operation = spec.name;
    let child: Logger | undefined;
    const log = () => {
      child ??= options.log.child({ requestId, ...traceFields(traceparent), operation });
      return child;
    };
    const expired = (): undefined => {
      metrics.operationsExpired.inc({ operation });
      metrics.operations.inc({ operation, outcome: 'expired', code: '' });
      log().warn('not worked on: its deadline has passed');
    };
    if (Date.now() >= deadline) return expired();
    const entered = admission?.enter(deadline) ?? true;
    if (!entered) {
      metrics.operations.inc({ operation, outcome: 'shed', code: 'gateway/unavailable' });
      return shedReply();
    }
    if (entered !== true) {
      await entered;
      if (Date.now() >= deadline) {
        admission?.leave();
        return expired();
      }
    }
    const began = performance.now();
    const stop = metrics.operationSeconds.startTimer({ operation: spec.name });
    metrics.operationsInFlight.inc();
    let reply: Message | undefined;
    try {
      reply = await work(message, { context, log });
      // The bus carries no message above `maxPayload`. Without this check, the caller would wait in vain for a larger answer.
      if (messageSize(reply) > maxPayload)
        throw new RangeError('The answer is too large for one message of the bus.');
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) reply = failureReply(spec, error, log);
    } finally {
      metrics.operationsInFlight.dec();
      admission?.leave(performance.now() - began);
    }
    if (!reply) return expired();
    const seconds = stop({ status: reply.headers[statusHeader] ?? '' });
    metrics.operations.inc({ operation, ...outcomeOf(reply) });
    if (options.log.isLevelEnabled('debug')) {
      log().debug({ status: reply.headers[statusHeader], ms: Math.round(seconds * 1e4) / 10 }, 'served');
    }
    return reply;
  });
}

function outcomeOf({ headers }: Message): { outcome: string; code: string } {
  const code = headers[codeHeader] ?? '';
  if (!code) return { outcome: 'ok', code };
  return { outcome: Number(headers[statusHeader]) >= 500 ? 'failed' : 'refused', code };
}

/**
 * Makes the reply for any failure of a handler. If the failure has a code that the contract lists, the reply has this code. Any
 * other failure is logged, and the reply has the code `<feature>/server-error`.
 */
function failureReply(spec: Named, error: unknown, log: Asked['log']): Message {
  if (error instanceof ApiError && isListed(spec, error.code)) return errorReply(error.code, error);
  log().error({ err: error }, 'operation failed');
  const code = `${spec.feature}/server-error`;
  return errorReply(isErrorCode(code) ? code : 'gateway/server-error');
}

/** The link to the next page. It names the limit even if the request has left it out (spec#lists-cursor). */
function nextLink(query: string, cursor: string, { limit }: { limit?: unknown }): string {
  const next = new URLSearchParams(query);
  next.delete('page');
  next.set('cursor', cursor);
  if (limit !== undefined && !next.has('limit')) next.set('limit', String(limit));
  return `<?${next}>; rel="next"`;
}
