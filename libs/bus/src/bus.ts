import type { Progress, Span } from '@kith/store';

/** What travels on the bus: header lines and a body's bytes, the same over NATS and in process. */
export interface Message {
  headers: Record<string, string>;
  body: Uint8Array;
  /** Unix time in ms at which one that was received may have come in at the earliest, where that is not now (docs/adr/0035). */
  receivedAt?: number;
}

/** An event ready to be published. `id` makes publishing it twice harmless within the broker's window. */
export interface OutgoingEvent {
  subject: string;
  id: string;
  body: Uint8Array;
  /** What has caused it, of a change that was traced; goes along beside the event (docs/adr/0017). */
  traceparent?: string | undefined;
}

/** An event as a consumer gets it; `delivery` counts from 1. */
export interface Delivery {
  subject: string;
  id: string;
  body: Uint8Array;
  delivery: number;
  traceparent?: string | undefined;
}

/** Tells one log of events from another, and how far it goes. */
export interface EventLogState {
  /** When it was made, or another name that no other log has. */
  created: string;
  /** The first position that is kept; above `last` when none is. */
  first: number;
  /** The last position that was given out. */
  last: number;
}

/** A published event that is to be taken out. Where `span` is not known, it is looked for among all there are. */
export interface Withdrawal {
  subject: string;
  id: string;
  span?: Span | undefined;
}

export interface ConsumeOptions {
  /** Durable name, `<service>-<purpose>`: replicas of a service that share it share its events. */
  durable: string;
  /** Subjects with NATS wildcards (`*`, `>`). */
  subjects: readonly string[];
  /** Events a process works on at once on NATS, 1 where absent. In the embedded form they come one by one. */
  atOnce?: number;
  /** Attempts before an event goes to the dead-letter subject. */
  maxDeliveries?: number;
  /** Waits between attempts, in ms; the last one repeats. */
  backoffMs?: readonly number[];
  /** How long after the last word of a process its events go to another, in ms; on NATS. */
  ackWaitMs?: number;
  /** What the consumer's database knows of how far it has got; in the embedded form. */
  progress?: Progress | undefined;
}

/** An event that a consumer has given up, and the text of its last error. */
export interface DeadLetter {
  subject: string;
  id: string;
  body: Uint8Array;
  error: string;
}

/** How much a durable has before it. */
export interface Backlog {
  /** Events it has not applied yet, those it tries again included. */
  pending: number;
  /** Events it has given up. */
  dead: number;
}

export interface RequestOptions {
  /**
   * Whether the request changes nothing, so that it may be asked again of another server: after a second without an answer,
   * and when the connection was lost meanwhile.
   */
  repeatable?: boolean;
}

/** What is told to everyone who listens at that moment. */
export interface Notice {
  subject: string;
  body: Uint8Array;
}

/** Work taken from the bus that can be ended in order. */
export interface Intake {
  /** Takes no more and waits for what is being worked on. Repeatable. */
  drain(): Promise<void>;
}

/**
 * How services reach each other. Two implementations, NATS and in process, pass one contract suite
 * (`tests/bus.test.ts`, `tests/bus-events.test.ts`); no other file knows which it is (docs/adr/0001).
 */
export interface Bus {
  /** First part of every subject. */
  readonly prefix: string;
  /**
   * Asks one of the subject's servers. Throws `NoResponders` at once, `RequestTimeout` after `timeoutMs`, and
   * `RangeError` or `TypeError` for a message that cannot travel. Header values come without outer white space.
   */
  request(subject: string, message: Message, timeoutMs: number, how?: RequestOptions): Promise<Message>;
  /**
   * Answers a subject, sharing it with others of the group; a subject has one group. An `undefined` answer is none,
   * and so is a throw: the caller times out.
   */
  serve(
    subject: string,
    group: string,
    answer: (message: Message) => Promise<Message | undefined>,
  ): Promise<Intake>;
  /** Stores an event for its consumers; resolves once it is stored, to its position: later ones have higher ones. */
  publish(event: OutgoingEvent): Promise<number>;
  /**
   * Which log the events are in, and how far it goes. One that was made anew, or put back to an older copy, has lost events
   * (docs/adr/0027).
   */
  log(): Promise<EventLogState>;
  /** The id of the event at a position, as it was published first; `undefined` where none is, or none any more. */
  idAt(position: number): Promise<string | undefined>;
  /**
   * Takes events out again, every copy and the dead letters of them, so that nobody gets them who has not begun to.
   * One that is not there (any more) changes nothing. May reject while another process withdraws: to be tried again.
   */
  withdraw(events: readonly Withdrawal[]): Promise<void>;
  /** Delivers events at least once to `handle`; a throw brings the event again, and at last to the dead letters. */
  consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake>;
  /** Makes a durable consumer begin again, at the first event that is kept. To be called before it is consumed here. */
  startOver(durable: string): Promise<void>;
  /** How far a durable that is consumed here is behind. */
  backlog(durable: string): Promise<Backlog>;
  /** The events a durable has given up, oldest first. For operators and tests: the dead are expected to be few. */
  deadLetters(durable: string): Promise<DeadLetter[]>;
  /**
   * Publishes the events a durable has given up once more, and forgets them; gives how many. Every consumer gets them
   * again, which changes nothing for those that had them. Stops at the first that cannot be published.
   */
  replayDeadLetters(durable: string): Promise<number>;
  /** Tells everyone who listens now. Nothing is kept for who is away: a listener asks for what it missed. */
  broadcast(subject: string, body: Uint8Array): Promise<void>;
  /** Hears what is told on a subject, which may have NATS wildcards. */
  listen(subject: string, hear: (notice: Notice) => void): Promise<Intake>;
  /** Calls back each time the connection was lost and is there again: notices may have been missed. */
  onReconnect(callback: () => void): void;
  /** Whether requests can be made now. */
  isConnected(): boolean;
  /** Sends what is buffered and closes. Repeatable. */
  close(): Promise<void>;
}

/** Nobody serves the subject: 503 for a client. */
export class NoResponders extends Error {
  override name = 'NoResponders';
}

/** Somebody serves the subject but did not answer in time: 504 for a client. */
export class RequestTimeout extends Error {
  override name = 'RequestTimeout';
}

/** Largest message, in bytes, on either bus; NATS' `max_payload` must allow it. */
export const maxPayload = 4 * 1024 * 1024;

/** About a quarter of an hour in all: an outage of a consumer's database ends before its events are given up. */
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

/** The id of an event that is published once more: new to the broker's window, and told from the first. */
export function replayedId(id: string): string {
  return `${originalId(id)}~${Date.now()}`;
}

/** The id an event had when it was published first. */
export function originalId(id: string): string {
  return id.split('~')[0] ?? id;
}

/** The subject an event goes to when a consumer has given it up; it names the event, so that it can be taken out. */
export function deadLetterSubject(prefix: string, durable: string, id: string): string {
  return `${prefix}.dead.${durable}.${subjectToken(originalId(id))}`;
}

/** An id as one token of a subject. */
export function subjectToken(id: string): string {
  return /^[\w-]+$/.test(id) ? id : `=${Buffer.from(id).toString('base64url')}`;
}
