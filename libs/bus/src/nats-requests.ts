import {
  createInbox,
  type Msg,
  type NatsConnection,
  PermissionViolationError,
} from '@nats-io/transport-node';
import { type Message, NoResponders, type RequestOptions, RequestTimeout } from './bus.ts';
import { decodeHeaders, encodeHeaders } from './nats-headers.ts';
import type { NatsWrites } from './nats-writes.ts';
import { shedHeader } from './reply-headers.ts';

interface Asked {
  subject: string;
  /** The message to send again until an answer arrives. Absent if it is not safe to send the message again. */
  again: Message | undefined;
  /** When to send the message again, in ms of `performance.now()`. */
  againAt: number;
  answer: (message: Message) => void;
  fail: (error: Error) => void;
  timeoutMs: number;
  /** When the request times out, in ms of `performance.now()`. */
  until: number;
  /** How many messages of this request still wait for an answer. Messages that were sent before a reconnect do not count. */
  open: number;
}

/**
 * How long a repeatable request waits before it is sent again, in ms. If a replica hangs, the broker notices this only after
 * several pings without an answer. Until then, the broker still sends requests to the replica.
 */
const againMs = 1_000;
/**
 * How long the sender had waited for an answer when it sent a request again, in ms. The request itself stays the same. So the
 * request names the time that was left when it was first sent.
 */
export const waitedHeader = 'Kith-Waited';
/** The NATS server sends a message with this status if nobody listens (NATS client protocol, no responders). */
const noResponders = 503;

/**
 * Sends requests and receives their replies. All requests share one inbox, and each request has a number. Replaces the client's
 * own `request`, which creates an error object and a random token for each request. This class creates neither, so the gateway
 * needs 9 % less CPU (bench/README.md). All requests share one timer, which is set to the time at which the next request is
 * due.
 */
export class NatsRequests {
  readonly #nc: NatsConnection;
  readonly #writes: NatsWrites;
  readonly #inbox: string;
  readonly #asked = new Map<string, Asked>();
  #last = 0;
  #isListening = false;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(nc: NatsConnection, writes: NatsWrites, inboxPrefix: string) {
    this.#nc = nc;
    this.#writes = writes;
    this.#inbox = `${createInbox(inboxPrefix)}.`;
    void nc.closed().then(() => this.#failAll(new NoResponders('Not connected to NATS.')));
  }

  /**
   * Sends a request to a subject, and resolves to the reply. Rejects with `NoResponders`, `RequestTimeout`, or the client's
   * error.
   */
  request(
    subject: string,
    message: Message,
    timeoutMs: number,
    { repeatable = false }: RequestOptions = {},
  ): Promise<Message> {
    this.#listen();
    const id = (++this.#last).toString(36);
    return new Promise((answer, fail) => {
      const now = performance.now();
      const until = now + timeoutMs;
      const againAt = repeatable ? now + againMs : Number.POSITIVE_INFINITY;
      const again = repeatable ? message : undefined;
      this.#asked.set(id, { subject, again, againAt, answer, fail, timeoutMs, until, open: 1 });
      const due = Math.min(until, againAt);
      if (due < this.#timerAt) this.#wakeAt(due);
      this.#send(id, subject, message);
    });
  }

  /** Sends repeatable requests again after a reconnect, because these requests or their answers may have been lost. */
  askAgain(): void {
    for (const [id, asked] of this.#asked) {
      asked.open = 0;
      this.#sendAgain(id, asked);
    }
  }

  #sendAgain(id: string, asked: Asked): void {
    const { subject, again, until, timeoutMs } = asked;
    if (!again) return;
    asked.open++;
    const waitedMs = Math.round(performance.now() - (until - timeoutMs));
    this.#send(id, subject, { ...again, headers: { ...again.headers, [waitedHeader]: String(waitedMs) } });
  }

  #send(id: string, subject: string, { headers, body }: Message): void {
    this.#writes.add({
      subject,
      body,
      options: { reply: this.#inbox + id, headers: encodeHeaders(headers) },
      failed: (error) => this.#take(id)?.fail(error as Error),
    });
  }

  /**
   * Rejects the requests to a subject if this process has no right to publish there, because these requests will get no reply.
   */
  refused(error: Error): void {
    if (!(error instanceof PermissionViolationError) || error.operation !== 'publish') return;
    for (const [id, { subject }] of this.#asked) if (subject === error.subject) this.#take(id)?.fail(error);
  }

  /** Subscribes to the inbox only at the first request, because most processes send no requests. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#nc.subscribe(`${this.#inbox}*`, {
      callback: (error, message) => {
        if (!error) this.#hear(message);
      },
    });
  }

  #hear(message: Msg): void {
    const id = message.subject.slice(this.#inbox.length);
    const asked = this.#asked.get(id);
    if (!asked) return;
    const { data, headers } = message;
    const isUnserved = data.length === 0 && headers?.code === noResponders;
    if (asked.open > 1 && (isUnserved || headers?.has(shedHeader))) {
      // No server works on this repeat. But the server that got the earlier message may still work on that message, even while
      // the server shuts down.
      asked.open--;
      return;
    }
    this.#asked.delete(id);
    if (isUnserved) {
      asked.fail(new NoResponders(`Nobody serves ${asked.subject}.`));
    } else {
      asked.answer({ headers: decodeHeaders(message), body: data });
    }
  }

  #take(id: string): Asked | undefined {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    return asked;
  }

  #wakeAt(at: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    // The process stays alive because of the connection, so the timer does not have to keep it alive.
    this.#timer = setTimeout(() => this.#lookAtLate(), Math.max(at - performance.now(), 0)).unref();
  }

  /** Rejects requests that have timed out. If a repeatable request has waited for `againMs`, sends it again. */
  #lookAtLate(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [id, asked] of this.#asked) {
      const { subject, timeoutMs, until } = asked;
      if (until <= now) {
        this.#take(id)?.fail(new RequestTimeout(`${subject} did not answer in ${timeoutMs} ms.`));
        continue;
      }
      if (asked.againAt <= now) {
        asked.againAt = now + againMs;
        this.#sendAgain(id, asked);
      }
      next = Math.min(next, until, asked.againAt);
    }
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
  }

  #failAll(error: Error): void {
    clearTimeout(this.#timer);
    for (const id of this.#asked.keys()) this.#take(id)?.fail(error);
  }
}
