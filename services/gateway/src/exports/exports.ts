import { pipeline } from 'node:stream/promises';
import { ApiError, type Logger } from '@kith/base';
import { type Bus, type Message, statusHeader } from '@kith/bus';
import type { OperationSpec } from '@kith/contracts';
import type { Caller } from '@kith/service';
import { answerReply, cutOff, headOf, writeHead } from '../http/answer.ts';
import { type HttpRequest, type HttpResponse, logFieldsOf } from '../http/exchange.ts';
import { firstPage, pagesFrom, type SectionPage, type SectionRequest } from './section-pages.ts';

/** The times of exports, in ms. */
export interface ExportTimes {
  /** How long to wait before each further attempt after a request for a page has failed. */
  retry: readonly number[];
  /** How long a client may leave written data unread. */
  unread: number;
}

const exportTimes: ExportTimes = { retry: [200, 1_000, 3_000], unread: 30_000 };

/** A request for an export, and the service's reply to this request. */
export interface ExportRequest {
  operation: OperationSpec;
  reply: Message;
  projectId: string | null;
  caller: Caller | null;
  /** Checks the request's token again. */
  identify: () => Promise<unknown>;
}

/**
 * Answers exports. An export begins with its head, which is the reply of the service. The sections follow in the order of the
 * contract. Each section is read page by page, as fast as the client reads (docs/adr/0012).
 */
export class Exports {
  readonly #options: { bus: Bus; log: Logger; requestTimeoutMs: number };
  readonly #times: ExportTimes;

  constructor(options: {
    bus: Bus;
    log: Logger;
    requestTimeoutMs: number;
    times?: Partial<ExportTimes> | undefined;
  }) {
    this.#options = options;
    this.#times = { ...exportTimes, ...options.times };
  }

  /**
   * Returns once the whole document is sent. If the document cannot be finished, closes the connection and returns. Before the
   * first byte is sent, this method may throw the code of a section's service, `gateway/unavailable` or `gateway/timeout`.
   */
  async answer(request: HttpRequest, response: HttpResponse, of: ExportRequest): Promise<void> {
    const { operation, reply, projectId, caller, identify } = of;
    const { bus, log, requestTimeoutMs: timeoutMs } = this.#options;
    const { requestId } = response.locals;
    if (reply.headers[statusHeader] !== String(operation.status)) {
      return answerReply(request, response, reply);
    }
    if (projectId === null || !caller) throw new ApiError('auth/unauthorized');

    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { signal } = gone;
    const retryMs = this.#times.retry;
    const { userId } = caller;
    const whose: SectionRequest = { projectId, userId, requestId, timeoutMs, retryMs, signal, identify };
    const sections = await Promise.all(
      Object.entries(operation.parts?.sections ?? {}).map(async ([name, section]) => {
        const first = await firstPage(bus, section, whose);
        return { name, pages: pagesFrom(bus, section, whose, first) };
      }),
    );
    const { status, headers } = headOf(response, reply);
    // The connection ends with this answer, and only the headers can announce this to the client. Streams send `Connection:
    // close` for the same reason.
    if (!writeHead(response, { status, headers: { ...headers, Connection: 'close' } })) return;
    if (request.method === 'HEAD') return void response.end();

    const slowest = retryMs.reduce((sum, ms) => sum + ms + timeoutMs, timeoutMs);
    // A service's page never takes longer than `slowest`. So if nothing was read or written for longer than that, the client is
    // the cause, not a service.
    response.setTimeout(Math.max(this.#times.unread, slowest), () => cutOff(response));
    try {
      await pipeline(documentOf(reply.body, sections), response);
    } catch (error) {
      // The document lacks its end, so the client sees that it is not complete.
      cutOff(response);
      if (!signal.aborted)
        log.error({ err: error, ...logFieldsOf(response) }, 'export failed after its beginning was sent');
    }
  }
}

/** Adds sections after the last member of a JSON object. */
async function* documentOf(
  head: Uint8Array,
  sections: readonly { name: string; pages: AsyncIterable<SectionPage> }[],
): AsyncGenerator<string> {
  yield new TextDecoder().decode(head).replace(/\}\s*$/, '');
  for (const { name, pages } of sections) {
    yield `,${JSON.stringify(name)}:[`;
    let separator = '';
    for await (const { items } of pages) {
      if (items.length === 0) continue;
      yield separator + JSON.stringify(items).slice(1, -1);
      separator = ',';
    }
    yield ']';
  }
  yield '}';
}
