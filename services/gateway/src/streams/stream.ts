import { ApiError, type Logger } from '@kith/base';
import { isFailure } from '../forward/bus-failure.ts';
import type { Feed } from './feed.ts';
import type { EventWriter } from './sse.ts';

/** The times of streams, in ms. */
export interface StreamTimes {
  /** The time between two comments. A stream asks at the same interval for events that it may have missed. */
  heartbeat: number;
  /** The time between two checks of the token. */
  check: number;
  /** The time between two questions about the user that a server key acts for. Each question is a request to identity. */
  user: number;
  /** How long a client may leave written data unread. */
  unread: number;
}

export const streamTimes: StreamTimes = { heartbeat: 15_000, check: 1_000, user: 15_000, unread: 30_000 };

/**
 * How long a client waits before it connects again, in ms, if a newer stream of its user has taken its place. This wait is
 * longer than usual. A user may have five open streams. With a short wait, the streams of six tabs would replace each other
 * without end.
 */
const evictedRetryMs = 60_000;

interface StreamParts {
  feed: Feed;
  writer: EventWriter;
  identify: Identify;
  log: Logger;
}

/**
 * Checks a request's token again. Rejects if the request is no longer allowed. If a server key acts for a user, identity is
 * asked about the user. Its answer is reused for `userMs`.
 */
export type Identify = (userMs: number) => Promise<unknown>;

/**
 * One open stream. After each call of `wake`, it asks for the events that follow its position in the feed, and writes them. An
 * unnecessary call of `wake` does no harm, and a missing call only delays events. The position ensures that nothing is missed
 * or sent twice (spec#notifications-stream-resume).
 */
export class Stream {
  readonly #parts: StreamParts;
  readonly #times: StreamTimes;
  #position: number;
  #isDue = true;
  #isEnded = false;
  #isChecking = false;
  #running: Promise<void> | undefined;
  #beatAt = performance.now();

  constructor(parts: StreamParts, options: { position: number; times: StreamTimes }) {
    this.#parts = parts;
    this.#position = options.position;
    this.#times = options.times;
  }

  /** Makes the stream ask soon for the events that follow its position. */
  wake(): void {
    this.#isDue = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /**
   * Does the work that is due: ends the stream if its client does not read, checks the token, sends a comment, asks for events.
   */
  tick(): void {
    // A stream that has ended stays open until its client has read the end. The HTTP server limits this time.
    if (this.#isEnded) return;
    const { writer } = this.#parts;
    const now = performance.now();
    if (writer.blockedSince !== undefined && now - writer.blockedSince > this.#times.unread) {
      this.#isEnded = true;
      writer.destroy();
      return;
    }
    void this.#check();
    if (now - this.#beatAt >= this.#times.heartbeat) {
      this.#beatAt = now;
      writer.comment();
      this.wake();
    } else if (this.#isDue) this.wake();
  }

  /** Ends the stream. Does nothing if the stream has already ended. */
  end(options: { retryMs?: number } = {}): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { writer } = this.#parts;
    // If the client does not read, unread data would keep the connection open. So in this case, the connection is closed at
    // once.
    if (writer.blockedSince === undefined) writer.end(options);
    else writer.destroy();
  }

  async #run(): Promise<void> {
    const { feed, writer, log } = this.#parts;
    try {
      // Nothing is written to a client that does not read. When the client reads again, `wake` is called.
      while (this.#isDue && !this.#isEnded && writer.blockedSince === undefined) {
        this.#isDue = false;
        this.#write(await feed.after(this.#position));
      }
    } catch (error) {
      // The next tick asks for the events again.
      this.#isDue = true;
      if (!(error instanceof ApiError))
        log.warn({ err: error }, 'a stream could not read its feed; it tries again');
    }
  }

  #write(answer: Awaited<ReturnType<Feed['after']>>): void {
    if (this.#isEnded) return;
    const { writer } = this.#parts;
    if (answer.evicted) {
      writer.event({ name: 'evicted', data: {} });
      this.end({ retryMs: evictedRetryMs });
      return;
    }
    if (answer.reset) writer.event({ name: 'reset', id: answer.seq, data: { id: answer.seq } });
    for (const { seq, item } of answer.items) writer.event({ name: 'notification', id: seq, data: item });
    this.#position = answer.seq;
    this.#isDue ||= answer.hasMore;
  }

  /** Ends the stream if its request is no longer allowed. While identity is away or fails, the stream goes on. */
  async #check(): Promise<void> {
    if (this.#isChecking || this.#isEnded) return;
    this.#isChecking = true;
    try {
      await this.#parts.identify(this.#times.user);
    } catch (error) {
      if (!isFailure(error)) this.end();
    } finally {
      this.#isChecking = false;
    }
  }
}
