import { randomInt, randomUUID } from 'node:crypto';
import { ApiError, type Logger, type Metrics } from '@kith/base';
import { type Bus, InFlight } from '@kith/bus';
import { feedSubject } from '@kith/contracts';
import type { Caller } from '@kith/service';
import { busFailure } from '../forward/bus-failure.ts';
import { type HttpRequest, type HttpResponse, logFieldsOf } from '../http/exchange.ts';
import { checkRefused } from '../http/refused-body.ts';
import { Feed } from './feed.ts';
import { EventWriter, writeStreamHead } from './sse.ts';
import { type Identify, Stream, type StreamTimes, streamTimes } from './stream.ts';

/** A request for a stream. The request has passed the checks of route, limit and token. */
export interface StreamRequest {
  projectId: string | null;
  caller: Caller | null;
  identify: Identify;
}

/** The open streams of this gateway. */
export class Streams {
  readonly #options: { bus: Bus; log: Logger; metrics: Metrics; requestTimeoutMs: number };
  readonly #times: StreamTimes;
  readonly #open = new Set<Stream>();
  readonly #closing = new InFlight();
  readonly #timer: NodeJS.Timeout;
  #isStopping = false;

  constructor(options: {
    bus: Bus;
    log: Logger;
    metrics: Metrics;
    requestTimeoutMs: number;
    times?: Partial<StreamTimes> | undefined;
  }) {
    this.#options = options;
    this.#times = { ...streamTimes, ...options.times };
    this.#timer = setInterval(() => {
      for (const stream of this.#open) stream.tick();
    }, this.#times.check);
    this.#timer.unref();
    options.bus.onReconnect(() => {
      for (const stream of this.#open) stream.wake();
    });
  }

  /**
   * Answers with a stream of the caller's feed. The stream goes on from `Last-Event-ID`. Without this header, it begins with
   * the events from now on. Returns once the stream has begun. Throws `gateway/unavailable` or `gateway/timeout` if the
   * notifications service does not answer. Throws `gateway/unavailable` if the bus has no connection.
   */
  async open(request: HttpRequest, response: HttpResponse, of: StreamRequest): Promise<void> {
    const { projectId, caller } = of;
    if (projectId === null || !caller) throw new ApiError('auth/unauthorized');
    if (this.#isStopping) throw new ApiError('gateway/unavailable');
    if (request.method === 'HEAD') {
      writeStreamHead(response);
      response.end();
      return;
    }
    const { bus, log, requestTimeoutMs } = this.#options;
    const { requestId } = response.locals;
    const fields = logFieldsOf(response);
    const { userId } = caller;
    const feedOf = { projectId, userId, streamId: randomUUID() };
    const feed = new Feed(bus, feedOf, { requestId, timeoutMs: requestTimeoutMs });
    let stream: Stream | undefined;
    const wake = () => stream?.wake();
    // Listens first, and then asks for the feed's end. So no event in between is missed.
    const intake = await bus.listen(feedSubject(bus.prefix, feedOf), wake).catch((error: unknown) => {
      throw busFailure(error);
    });
    const end = await feed.open().catch(async (error: unknown) => {
      await intake.drain();
      throw error;
    });
    const from = positionOf(request.headers['last-event-id']);
    // Without a listener, an error of one client's stream would end the process.
    response.on('error', (error) => log.error({ err: error, ...fields }, 'stream failed'));
    const writer = new EventWriter(response, wake);
    stream = new Stream(
      { feed, writer, identify: of.identify, log: log.child(fields) },
      { position: from ?? end, times: this.#times },
    );
    this.#track(stream, response, async () => {
      await intake.drain();
      // If this fails, the notifications service still counts the stream as open. But the user can open as many streams as
      // before, because a newer stream takes the place of this stream.
      await feed.close().catch((error: unknown) => log.warn({ err: error, ...fields }, 'stream not closed'));
    });
    if (this.#isStopping) throw new ApiError('gateway/unavailable');
    checkRefused(request);
    writer.begin();
    if (from === undefined) writer.position(end);
    stream.wake();
  }

  /** Ends all streams at once. Their clients connect again within seconds, but not all at the same moment. */
  end(): void {
    this.#isStopping = true;
    clearInterval(this.#timer);
    for (const stream of this.#open) stream.end({ retryMs: randomInt(500, 3_000) });
  }

  /**
   * Ends all streams, and waits until the notifications service no longer counts them among their users' open streams. May be
   * called several times.
   */
  async stop(): Promise<void> {
    this.end();
    await this.#closing.idle();
  }

  /** Counts a stream as open until its response is closed, and then calls `release`. */
  #track(stream: Stream, response: HttpResponse, release: () => Promise<void>): void {
    const { streamsOpen } = this.#options.metrics;
    this.#open.add(stream);
    streamsOpen.inc();
    const closed = new Promise<void>((resolve) => {
      if (response.destroyed) resolve();
      else response.once('close', () => resolve());
    });
    const gone = async () => {
      await closed;
      this.#open.delete(stream);
      streamsOpen.dec();
      stream.end();
      await release();
    };
    this.#closing.track(
      gone().catch((error: unknown) =>
        this.#options.log.error({ err: error }, 'a closed stream could not be released'),
      ),
    );
  }
}

/**
 * The position that a client has reached. If the header's text cannot be a sequence number of a feed, the position counts as
 * beyond the end of any feed. The client then gets the event `reset`.
 */
function positionOf(lastEventId: string | string[] | undefined): number | undefined {
  if (lastEventId === undefined || lastEventId === '') return undefined;
  const text = String(lastEventId);
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.MAX_SAFE_INTEGER;
}
