import type { Progress, Span } from '@kith/store';

/** What travels on the bus: header lines and the bytes of a body. Both are the same over NATS and in process. */
export interface Message {
  headers: Record<string, string>;
  body: Uint8Array;
  /** For a received message: the earliest time at which it may have come in, Unix ms. Absent if it came in now (docs/adr/0035). */
  receivedAt?: number;
}

/** An event ready to be published. Because of its `id`, publishing it twice within the broker's window is harmless. */
export interface OutgoingEvent {
  subject: string;
  id: string;
  body: Uint8Array;
  /** The place of the event's change in its trace, if the change was traced. It travels beside the event (docs/adr/0017). */
  traceparent?: string | undefined;
}

/** An event as a consumer gets it. `delivery` is the number of the delivery, from 1. */
export interface Delivery {
  subject: string;
  id: string;
  body: Uint8Array;
  delivery: number;
  traceparent?: string | undefined;
}

/** Identifies a log of events, and says how far it goes. */
export interface EventLogState {
  /** The time when the log was made, or another text that no other log has. */
  created: string;
  /** The first position whose event is kept. If no event is kept, this is above `last`. */
  first: number;
  /** The last position that was given out. */
  last: number;
}

/** A published event that is to be removed. If `span` is not known, the whole log is searched for the event. */
export interface Withdrawal {
  subject: string;
  id: string;
  span?: Span | undefined;
}

export interface ConsumeOptions {
  /** Name of the durable, `<service>-<purpose>`. If replicas of a service use the same name, they share the durable's events. */
  durable: string;
  /** Subjects with NATS wildcards (`*`, `>`). */
  subjects: readonly string[];
  /** How many events a process works on at the same time on NATS, 1 by default. In the embedded form, events come one by one. */
  atOnce?: number;
  /**
   * Attempts before an event goes to the dead-letter subject. On NATS, the number includes deliveries whose event no handler
   * got, because the process died or stopped first. At least half of the deliveries are attempts (docs/adr/0029).
   */
  maxDeliveries?: number;
  /** How long to wait before each further attempt, in ms. The last number applies to all later attempts. */
  backoffMs?: readonly number[];
  /** On NATS: if a process is silent for this long, in ms, its events go to another process. */
  ackWaitMs?: number;
  /** In the embedded form: notes on how far the consumer has got, in the consumer's own database. */
  progress?: Progress | undefined;
}

/** An event that a consumer has given up, and the text of its last error. */
export interface DeadLetter {
  subject: string;
  id: string;
  body: Uint8Array;
  error: string;
}

/** How far a durable is behind. */
export interface Backlog {
  /** Events that the durable has not applied yet, including those that it tries again. */
  pending: number;
  /** Events that the durable has given up. */
  dead: number;
}

export interface RequestOptions {
  /**
   * Whether the request changes nothing, or does the same when it runs twice. If so, it may be sent again to another server: after
   * a second without an answer, and when a lost connection is back.
   */
  repeatable?: boolean;
}

/** A message for everyone who listens at that moment. */
export interface Notice {
  subject: string;
  body: Uint8Array;
}

/** A handler that takes work from the bus and can be stopped in an orderly way. */
export interface Intake {
  /** Takes no more work, and waits for the work under way. Repeatable. */
  drain(): Promise<void>;
}

/**
 * How services reach each other. There are two implementations: NATS and in process. Both pass one contract suite
 * (`tests/bus.test.ts`, `tests/bus-events.test.ts`). No other file knows which of them is in use (docs/adr/0001).
 */
export interface Bus {
  /** First part of every subject. */
  readonly prefix: string;
  /**
   * Asks one of the subject's servers. Throws `NoResponders` immediately if the subject has no server, and `RequestTimeout`
   * after `timeoutMs`. Throws `RangeError` or `TypeError` for a message that cannot be sent. Header values arrive without outer
   * white space.
   */
  request(subject: string, message: Message, timeoutMs: number, how?: RequestOptions): Promise<Message>;
  /**
   * Answers the requests on a subject, and shares them with the other servers of the group. A subject has one group. If
   * `answer` returns `undefined` or throws, no answer is sent, and the caller times out.
   */
  serve(
    subject: string,
    group: string,
    answer: (message: Message) => Promise<Message | undefined>,
  ): Promise<Intake>;
  /**
   * Stores an event for its consumers. When the event is stored, resolves to the event's position. Later events have higher
   * positions.
   */
  publish(event: OutgoingEvent): Promise<number>;
  /**
   * Identifies the log that the events are in, and says how far it goes. If a log was created again, or replaced by an older
   * copy, it has lost events (docs/adr/0027).
   */
  log(): Promise<EventLogState>;
  /** The id that the event at a position had when it was first published. `undefined` if no event is there (any more). */
  idAt(position: number): Promise<string | undefined>;
  /**
   * Removes events, every copy of them, and their dead letters. Afterwards, no consumer gets such an event, but a consumer that
   * is already working on the event goes on. Ignores events that are not there (any more). May reject while another process
   * withdraws events: then try again.
   */
  withdraw(events: readonly Withdrawal[]): Promise<void>;
  /** The ids of all events that have a dead letter, whichever consumer's. There should be only a few such events. */
  deadEvents(): Promise<string[]>;
  /** An event that has a dead letter, as it was published. `undefined` if it has no dead letter (any more). */
  deadEvent(id: string): Promise<OutgoingEvent | undefined>;
  /**
   * Delivers events to `handle` at least once. If `handle` throws, the event is delivered again. If the last attempt fails, the
   * event becomes a dead letter.
   */
  consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake>;
  /** Makes a durable consumer begin again, at the first event that is kept. Call it before you consume the durable here. */
  startOver(durable: string): Promise<void>;
  /** How far a durable is behind. This process must consume the durable. */
  backlog(durable: string): Promise<Backlog>;
  /** The events that a durable has given up, oldest first. For operators and tests: there should be only a few such events. */
  deadLetters(durable: string): Promise<DeadLetter[]>;
  /**
   * Publishes again the events that a durable has given up, and removes their dead letters. Returns how many there were. Every
   * consumer gets these events again. If a consumer has already applied an event, the repeated event has no effect there. Stops
   * at the first event that cannot be published.
   */
  replayDeadLetters(durable: string): Promise<number>;
  /**
   * Sends a notice to everyone who listens now. Nothing is kept for listeners that are away: they have to ask for what they
   * have missed.
   */
  broadcast(subject: string, body: Uint8Array): Promise<void>;
  /** Listens to the notices on a subject, which may have NATS wildcards. */
  listen(subject: string, hear: (notice: Notice) => void): Promise<Intake>;
  /** Calls back each time a lost connection is back, because notices may have been missed. */
  onReconnect(callback: () => void): void;
  /** Whether requests can be made now. */
  isConnected(): boolean;
  /** Sends what is buffered and closes. Repeatable. */
  close(): Promise<void>;
}

/** Nobody serves the subject. A client gets a 503. */
export class NoResponders extends Error {
  override name = 'NoResponders';
}

/** Somebody serves the subject but did not answer in time. A client gets a 504. */
export class RequestTimeout extends Error {
  override name = 'RequestTimeout';
}

/** Largest message, in bytes, on either bus; NATS' `max_payload` must allow it. */
export const maxPayload = 4 * 1024 * 1024;

/**
 * All attempts together take about a quarter of an hour. So an outage of a consumer's database should end before its events are
 * given up.
 */
export const defaultDelivery = {
  atOnce: 1,
  maxDeliveries: 20,
  backoffMs: [100, 500, 2_000, 10_000, 30_000, 60_000],
  ackWaitMs: 30_000,
};

/** The wait before the next attempt after `delivery` attempts have failed, in ms. */
export function backoffAfter(delivery: number, backoffMs: readonly number[]): number {
  return backoffMs[Math.min(delivery, backoffMs.length) - 1] ?? 0;
}

/** The id of an event that is published again. It differs from the first id, so the broker treats the event as a new one. */
export function replayedId(id: string): string {
  return `${originalId(id)}~${Date.now()}`;
}

/** The id that an event had when it was first published. */
export function originalId(id: string): string {
  return id.split('~')[0] ?? id;
}

/**
 * The subject of the dead letter for an event that a consumer has given up. The subject names the event, so that the dead
 * letter can be found and removed.
 */
export function deadLetterSubject(prefix: string, durable: string, id: string): string {
  return `${prefix}.dead.${durable}.${subjectToken(originalId(id))}`;
}

/** An id as one token of a subject. */
export function subjectToken(id: string): string {
  return /^[\w-]+$/.test(id) ? id : `=${Buffer.from(id).toString('base64url')}`;
}

/** The id that a token of a subject stands for. */
export function idOfToken(token: string): string {
  return token.startsWith('=') ? Buffer.from(token.slice(1), 'base64url').toString() : token;
}
