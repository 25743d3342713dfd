import type { Progress, Span } from '@kith/store';

/** A message on the bus: headers, and a body of bytes. Messages look the same over NATS and in process. */
export interface Message {
  headers: Record<string, string>;
  body: Uint8Array;
  /**
   * Only on a received message: the earliest time at which the message may have arrived, Unix ms. Absent if it arrived just now
   * (docs/adr/0035).
   */
  receivedAt?: number;
  /**
   * Only on a received message that was sent again: how long its sender had waited for an answer when it sent this message, in
   * ms (docs/adr/0026).
   */
  waitedMs?: number;
}

/**
 * An event ready to be published. Publishing an event again with the same `id` within the broker's duplicate window has no
 * effect.
 */
export interface OutgoingEvent {
  subject: string;
  id: string;
  body: Uint8Array;
  /**
   * The trace parent of the change that the event reports, if the change was traced. It is sent together with the event, but
   * not in the event's body (docs/adr/0017).
   */
  traceparent?: string | undefined;
}

/** An event as a consumer receives it. `delivery` counts the deliveries of this event, from 1. */
export interface Delivery {
  subject: string;
  id: string;
  body: Uint8Array;
  delivery: number;
  traceparent?: string | undefined;
}

/** Identifies an event log and gives the range of its positions. */
export interface EventLogState {
  /** The time when the log was created, or another text that is unique to this log. */
  created: string;
  /** The first position whose event still exists. If no event exists any more, `first` is `last` + 1. */
  first: number;
  /** The highest position that was ever given to an event. */
  last: number;
  /** Whether the log keeps every event until all consumers have had it, even if the event is older than seven days. */
  keepsUnheard: boolean;
}

/** A published event to remove. If `span` is not known, the whole log is searched for the event. */
export interface Withdrawal {
  subject: string;
  id: string;
  span?: Span | undefined;
}

export interface ConsumeOptions {
  /** Name of the durable, `<service>-<purpose>`. Replicas of a service that use the same name share the durable's events. */
  durable: string;
  /** Subjects with NATS wildcards (`*`, `>`). */
  subjects: readonly string[];
  /**
   * How many events a process works on at the same time on NATS, 1 by default. In the embedded form, a process works on one
   * event at a time.
   */
  atOnce?: number;
  /**
   * The number of failed attempts after which an event becomes a dead letter. On NATS, deliveries are counted instead of
   * attempts. A delivery counts even if the process died or stopped before a handler received the event. At least half of the
   * deliveries are attempts (docs/adr/0029).
   */
  maxDeliveries?: number;
  /** How long to wait before each further attempt, in ms. The last number applies to all later attempts. */
  backoffMs?: readonly number[];
  /**
   * On NATS: the longest time between two reports that a process still works on an event, in ms. After this time without a
   * report, the event goes to another process.
   */
  ackWaitMs?: number;
  /** In the embedded form: the consumer's progress, which is stored in the consumer's own database. */
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
  /** Events that the durable has not applied yet, including events that it retries. */
  pending: number;
  /** Events that the durable has given up. */
  dead: number;
  /** The last position up to which the durable has applied or given up all its events. */
  position: number;
}

export interface RequestOptions {
  /**
   * Whether the request is safe to run twice. This is so if the request changes nothing, or if its second run has no further
   * effect. The bus sends a repeatable request again, perhaps to another server, after each second without an answer and after
   * each reconnect. A repeat may find that the server is too busy (`shedHeader`), or that nobody serves the subject any more.
   * Then the bus still waits for the server that got an earlier message of this request.
   */
  repeatable?: boolean;
}

/** A message for all processes that listen when the message is sent. */
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
 * Connects the services. There are two implementations: over NATS and in process. Both pass the same contract tests
 * (`tests/bus.test.ts`, `tests/bus-events.test.ts`). Code that uses a bus does not need to know which implementation the bus is
 * (docs/adr/0001).
 */
export interface Bus {
  /** First part of every subject. */
  readonly prefix: string;
  /**
   * Asks one of the subject's servers. Throws `NoResponders` immediately if the subject has no server, and `RequestTimeout`
   * after `timeoutMs`. Throws `RangeError` or `TypeError` for a message that cannot be sent. Header values arrive without
   * leading and trailing white space.
   */
  request(subject: string, message: Message, timeoutMs: number, how?: RequestOptions): Promise<Message>;
  /**
   * Answers requests on a subject. Each request goes to one server of the group. All servers of a subject have to give the same
   * `group`. If `answer` returns `undefined` or throws, no answer is sent, and the caller times out.
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
   * Identifies the event log and gives the range of its positions. A log that was created again, or that was replaced by an
   * older copy, has lost events (docs/adr/0027).
   */
  log(): Promise<EventLogState>;
  /** The id that the event at a position had when it was first published. `undefined` if there is no event (any more). */
  idAt(position: number): Promise<string | undefined>;
  /**
   * Removes events, all their copies, and their dead letters. Afterwards, no consumer receives such an event. A consumer that
   * is already working on such an event finishes that work. If an event does not exist (any more), ignores it. May reject while
   * another process withdraws events: then call it again.
   */
  withdraw(events: readonly Withdrawal[]): Promise<void>;
  /** The ids of all events that have a dead letter, of any consumer. There should be only a few such events. */
  deadEvents(): Promise<string[]>;
  /**
   * An event that has a dead letter, in the form in which it was published. `undefined` if the event has no dead letter (any
   * more).
   */
  deadEvent(id: string): Promise<OutgoingEvent | undefined>;
  /**
   * Delivers events to `handle` at least once. If `handle` throws, the event is delivered again. If the last attempt fails, the
   * event becomes a dead letter.
   */
  consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake>;
  /**
   * Makes a durable consumer begin again, at the first event that still exists. Call it before this process consumes the
   * durable.
   */
  startOver(durable: string): Promise<void>;
  /** How far a durable is behind. This process must be consuming the durable. */
  backlog(durable: string): Promise<Backlog>;
  /** The events that a durable has given up, oldest first. For operators and tests: there should be only a few such events. */
  deadLetters(durable: string): Promise<DeadLetter[]>;
  /**
   * Publishes again the events that a durable has given up, and removes their dead letters. Returns the number of these events.
   * Every consumer receives them again. A consumer that has already applied such an event ignores it. Stops at the first event
   * that cannot be published.
   */
  replayDeadLetters(durable: string): Promise<number>;
  /**
   * Sends a notice to all current listeners. The notice is not stored: a listener that was disconnected has to ask for the
   * current state.
   */
  broadcast(subject: string, body: Uint8Array): Promise<void>;
  /**
   * Listens to the notices on a subject. The subject may contain NATS wildcards. Throws `NoResponders` while there is no
   * connection, and another error if the bus is closed.
   */
  listen(subject: string, hear: (notice: Notice) => void): Promise<Intake>;
  /** Calls back each time a lost connection is restored, because notices may have been missed. */
  onReconnect(callback: () => void): void;
  /** Whether requests can be sent now. */
  isConnected(): boolean;
  /** Sends the buffered messages and closes the bus. Repeatable. */
  close(): Promise<void>;
}

/** The subject has no server. A client of the API then gets a 503. */
export class NoResponders extends Error {
  override name = 'NoResponders';
}

/** The subject has a server, but the server did not answer in time. A client of the API then gets a 504. */
export class RequestTimeout extends Error {
  override name = 'RequestTimeout';
}

/**
 * The size of the largest message, in bytes, on NATS and in process. The `max_payload` of the NATS server must not be smaller.
 */
export const maxPayload = 4 * 1024 * 1024;

/**
 * All attempts of an event together take about a quarter of an hour. If a consumer's database is unavailable for a shorter
 * time, the consumer gives up no event.
 */
export const defaultDelivery = {
  atOnce: 1,
  maxDeliveries: 20,
  backoffMs: [100, 500, 2_000, 10_000, 30_000, 60_000],
  ackWaitMs: 30_000,
};

/** How long to wait before the next attempt when `delivery` attempts have failed, in ms. */
export function backoffAfter(delivery: number, backoffMs: readonly number[]): number {
  return backoffMs[Math.min(delivery, backoffMs.length) - 1] ?? 0;
}

/**
 * The id of an event that is published again. It differs from the first id, because the broker would drop a second event with
 * the first id.
 */
export function replayedId(id: string): string {
  return `${originalId(id)}~${Date.now()}`;
}

/** The id that an event had when it was first published. */
export function originalId(id: string): string {
  return id.split('~')[0] ?? id;
}

/**
 * The subject of the dead letter for an event that a consumer has given up. The subject contains the event's id, so that the
 * dead letter can be found and removed by this id.
 */
export function deadLetterSubject(prefix: string, durable: string, id: string): string {
  return `${prefix}.dead.${durable}.${subjectToken(originalId(id))}`;
}

/** Encodes an id as one token of a subject. */
export function subjectToken(id: string): string {
  return /^[\w-]+$/.test(id) ? id : `=${Buffer.from(id).toString('base64url')}`;
}

/** Decodes the id that a token of a subject contains. */
export function idOfToken(token: string): string {
  return token.startsWith('=') ? Buffer.from(token.slice(1), 'base64url').toString() : token;
}
