import { setTimeout as wait } from 'node:timers/promises';
import { traceFields, traceparentHeader } from '@kith/base';
import {
  type Consumer,
  type ConsumerMessages,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  PubHeaders,
} from '@nats-io/jetstream';
import { headers as createHeaders, type Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import {
  backoffAfter,
  type ConsumeOptions,
  type Delivery,
  deadLetterSubject,
  defaultDelivery,
} from './bus.ts';
import { InFlight } from './in-flight.ts';
import { ensureConsumer } from './nats-durables.ts';
import { streamNames } from './stream-names.ts';

interface Connection {
  js: JetStreamClient;
  jsm: JetStreamManager;
  prefix: string;
  log: Logger;
  ensureStreams: () => Promise<void>;
  /** The number of the current connection, counted from 1; `undefined` while there is none. */
  current: () => number | undefined;
  /** Resolves when there is a connection, or when the signal is aborted. */
  connected: (signal: AbortSignal) => Promise<void>;
  /** Resolves when everything that was sent has reached the server. */
  flush: () => Promise<void>;
}

/** A fetched event, and the number of the connection that delivered it. */
interface Fetched {
  message: JsMsg;
  over: number | undefined;
}

/** The events of a fetch that are not handled immediately. */
interface Rest {
  /** Events that may have killed the process that worked on them (`#isSuspect`). */
  suspects: Fetched[];
  /** Events to return to the server. */
  left: Fetched[];
}

/** The headers of a dead letter. Its body is the event's body. */
export const subjectHeader = 'Kith-Subject';
export const errorHeader = 'Kith-Error';
const maxErrorLength = 1_000;
/**
 * The maximum number of events per fetch. It is so low that the work on the last event begins well before `ack_wait` is over.
 */
const batch = 50;
/**
 * How long a fetch waits for events, in ms. The client gives up a fetch if a heartbeat of the server is late by about half of
 * this time. The events that the server has sent until then do not come again before `ack_wait` is over. So on a slow network,
 * a short `fetchMs` would delay events.
 */
const fetchMs = 5_000;

/**
 * A durable pull consumer. It limits the number of deliveries itself. The server's `max_deliver` is not used, because it would
 * drop the event without storing a dead letter.
 */
export class NatsConsumer {
  readonly #connection: Connection;
  readonly #options: Required<Omit<ConsumeOptions, 'progress'>>;
  readonly #handle: (delivery: Delivery) => Promise<void>;
  #consumer: Consumer | undefined;
  #loop: Promise<void> | undefined;
  readonly #stopped = new AbortController();
  readonly #working = new InFlight();
  readonly #held = new Set<Fetched>();
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(
    connection: Connection,
    options: ConsumeOptions,
    handle: (delivery: Delivery) => Promise<void>,
  ) {
    this.#connection = connection;
    this.#options = { ...defaultDelivery, ...options };
    this.#handle = handle;
  }

  /** Begins to fetch events. Call `open` first. */
  start(): void {
    // Tells the server regularly that this process still works on its events. Otherwise the server would deliver an event to
    // another replica if the event's handler takes long, or waits for an unavailable database.
    this.#heartbeat = setInterval(() => {
      // Without a connection, the messages would only pile up until the connection is restored.
      if (this.#connection.current() === undefined) return;
      for (const one of this.#held) void this.#tell(one, (message) => message.working());
    }, this.#options.ackWaitMs / 3);
    this.#heartbeat.unref();
    this.#loop = this.#run();
  }

  /** Ends the fetch, returns events that no handler has begun, and waits for events that are being handled. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
    await this.#working.idle();
    clearInterval(this.#heartbeat);
  }

  /** Makes sure that the streams and the consumer exist. Throws `StartError` or the client's error. Repeatable. */
  async open(): Promise<Consumer> {
    const { js, jsm, prefix, ensureStreams } = this.#connection;
    await ensureStreams();
    const stream = streamNames(prefix).events;
    const { durable } = this.#options;
    await ensureConsumer(jsm, stream, this.#options);
    this.#consumer = await js.consumers.get(stream, durable);
    return this.#consumer;
  }

  async #run(): Promise<void> {
    const { log } = this.#connection;
    let failures = 0;
    for (;;) {
      // Waits for a connection. Without a connection, the client drops requests, and these requests time out only after
      // seconds.
      await this.#connection.connected(this.#stopped.signal);
      if (this.#stopped.signal.aborted) return;
      try {
        const consumer = this.#consumer ?? (await this.open());
        const { suspects, left } = await this.#fetch(consumer, await mostOf(consumer));
        // Returns the fetched events that are not handled here, so that another replica gets them immediately. This is done
        // after the end of the fetch. Before that, the server could send these events to this replica again.
        for (const one of left) await this.#tell(one, (message) => message.nak());
        await this.#workAlone(suspects);
        failures = 0;
      } catch (error) {
        log.warn({ err: error, durable: this.#options.durable }, 'consumer interrupted');
        this.#consumer = undefined;
        await pause(Math.min(100 * 2 ** failures++, 5_000), this.#stopped.signal);
      }
    }
  }

  /**
   * Fetches events and begins to work on them, until the fetch ends. Does not begin to work on suspects, but returns them.
   * Fetches in batches, because an endless subscription would have to be closed in the end. Events that are on their way when
   * it is closed would come again only after `ack_wait`.
   */
  async #fetch(consumer: Consumer, most: number): Promise<Rest> {
    const rest: Rest = { left: [], suspects: [] };
    let fetched = 0;
    const over = this.#connection.current();
    const messages = await consumer.fetch({ max_messages: most, expires: fetchMs });
    const { end, letGo } = endOnAbort(messages, this.#stopped.signal);
    try {
      for await (const message of messages) {
        fetched++;
        const one = { message, over };
        // Ends the fetch, for two reasons. First, while any event is being redelivered, events are fetched one at a time
        // (`mostOf`). Second, suspects are not handled before the end of the fetch that brought them.
        if (message.info.deliveryCount > 1) end();
        // A suspect is handled even if this process is stopping. If the suspect were returned, it would lose one of its last
        // attempts.
        if (this.#isSuspect(message)) rest.suspects.push(one);
        else if (this.#stopped.signal.aborted) rest.left.push(one);
        else await this.#begin(one);
      }
    } catch (error) {
      // The client throws this error at the end of a fetch if work on its events took longer than a second. All events of the
      // fetch have arrived by then.
      if (fetched === 0 || (error as Error).message !== heartbeatsMissed) throw error;
    } finally {
      letGo();
    }
    return rest;
  }

  /**
   * Whether an event is suspected to kill its process. When a process dies, the server has counted a delivery for every event
   * that the process held. Suppose that one event kills its process, and is always fetched together with the same other events.
   * Then these other events would be given up too, although no handler ever received them. So after half of its deliveries, an
   * event is handled alone.
   */
  #isSuspect(message: JsMsg): boolean {
    return message.info.deliveryCount > Math.max(this.#options.maxDeliveries / 2, 1);
  }

  /** Works on the suspects one by one, while this process holds no other event of the consumer. */
  async #workAlone(suspects: Fetched[]): Promise<void> {
    for (const one of suspects) this.#held.add(one);
    try {
      for (const one of suspects) {
        await this.#working.idle();
        // The suspect may kill this process, so the outcomes of the other events must reach the server first. If the connection
        // is lost, the outcomes cannot be sent, and this process still handles the suspect.
        await this.#connection.flush().catch(() => undefined);
        await this.#begin(one);
        await this.#working.idle();
      }
    } finally {
      for (const one of suspects) this.#held.delete(one);
    }
  }

  /** Begins to work on an event. Resolves when the work on another event can begin. */
  async #begin(fetched: Fetched): Promise<void> {
    const { atOnce, durable } = this.#options;
    this.#working.track(
      // If the server does not learn the outcome, it delivers the event again.
      this.#deliver(fetched).catch((error) =>
        this.#connection.log.warn({ err: error, durable }, 'consumer interrupted'),
      ),
    );
    await this.#working.below(atOnce);
  }

  /** Works on an event and reports the outcome to the server. */
  async #deliver(fetched: Fetched): Promise<void> {
    const { message } = fetched;
    const { durable, maxDeliveries, backoffMs } = this.#options;
    const { log } = this.#connection;
    const delivery = message.info.deliveryCount;
    const id = message.headers?.get(PubHeaders.MsgIdHdr) ?? String(message.seq);
    const traceparent = message.headers?.get(traceparentHeader) || undefined;
    try {
      // A process that dies because of an event cannot count the failure. So the server's count is checked here.
      if (delivery > maxDeliveries) throw new Error('delivered too often');
      this.#held.add(fetched);
      const { subject, data: body } = message;
      await this.#handle({ subject, id, body, delivery, traceparent }).finally(() =>
        this.#held.delete(fetched),
      );
      await this.#tell(fetched, () => message.ack());
    } catch (error) {
      const event = { durable, eventId: id, ...traceFields(traceparent) };
      log.warn({ err: error, ...event, delivery }, 'event not handled');
      if (delivery < maxDeliveries)
        await this.#tell(fetched, () => message.nak(backoffAfter(delivery, backoffMs)));
      else await this.#bury(fetched, id, error);
    }
  }

  /**
   * Reports the outcome of an event to the server. The server identifies the event by its sequence number. If the broker has
   * lost its files before a reconnect, the number may now belong to another event, which has not been handled. So after a
   * reconnect, this method first checks that the number still belongs to the same event. If the number belongs to another
   * event, or if the check fails, nothing is reported. An event that still exists then comes again after `ack_wait`. Without a
   * connection, this method waits until there is one, or until the consumer stops.
   */
  async #tell({ message, over }: Fetched, say: (message: JsMsg) => void): Promise<void> {
    const { current, connected } = this.#connection;
    const { signal } = this.#stopped;
    for (let known = over; ; ) {
      const now = current();
      if (now !== undefined && now === known) return say(message);
      if (now === undefined) {
        if (signal.aborted) return;
        await connected(signal);
        continue;
      }
      const isThere = await this.#isStillThere(message);
      // If the connection broke during the check, the result is not valid.
      if (current() !== now) continue;
      if (!isThere) return;
      known = now;
    }
  }

  async #isStillThere(message: JsMsg): Promise<boolean> {
    const { jsm, prefix } = this.#connection;
    const id = message.headers?.get(PubHeaders.MsgIdHdr);
    try {
      const there = await jsm.streams.getMessage(streamNames(prefix).events, { seq: message.seq });
      return !!id && there?.header.get(PubHeaders.MsgIdHdr) === id;
    } catch {
      return false;
    }
  }

  async #bury(fetched: Fetched, id: string, error: unknown): Promise<void> {
    const { message } = fetched;
    const { js, jsm, prefix, log } = this.#connection;
    const { durable } = this.#options;
    const streams = streamNames(prefix);
    const subject = deadLetterSubject(prefix, durable, id);
    const headers = createHeaders();
    headers.set(subjectHeader, message.subject);
    headers.set(
      errorHeader,
      String(error)
        .replaceAll(/[\r\n]+/g, ' ')
        .slice(0, maxErrorLength),
    );
    try {
      await js.publish(subject, message.data, { msgID: `${durable}:${id}`, headers });
      // If the event was withdrawn while it was handled, the withdrawal ran before this dead letter existed. So the dead letter
      // is removed here.
      const isThere = await jsm.streams.getMessage(streams.events, { seq: message.seq });
      if (!isThere) await jsm.streams.purge(streams.dead, { filter: subject });
      await this.#tell(fetched, () => message.term());
      log.error({ durable, eventId: id }, 'event given up: dead letter');
    } catch (failure) {
      log.error({ err: failure, durable, eventId: id }, 'dead letter not stored');
      await this.#tell(fetched, () => message.nak(5_000));
    }
  }
}

/**
 * How many events to fetch. The server counts deliveries, not attempts. If a process dies, each event that the process has
 * fetched loses one delivery. So while any event is being redelivered, a process fetches one event at a time, and holds only
 * the events that it works on. For this reason, an event can lose at most its first two deliveries when other events kill the
 * process.
 */
async function mostOf(consumer: Consumer): Promise<number> {
  const { num_redelivered: again } = await consumer.info();
  return again > 0 ? 1 : batch;
}

/**
 * The error that the client throws if a fetch receives nothing for the length of two heartbeats. The client keeps measuring
 * until this process has taken the last event of the fetch, even if all events have arrived.
 */
const heartbeatsMissed = 'heartbeats missed';

/**
 * Ends a fetch when the signal is aborted, or when `end` is called. After a call of `letGo`, aborting the signal has no effect
 * on the fetch. The fetch ends by draining the subscription. Events that the server sends before it receives the drain still
 * arrive. Events that the server can no longer deliver go to another replica immediately. The client has no public method for
 * this, and its `close` drops events that are on their way. In a cluster, an event may be between two servers when the drain
 * arrives. Such an event comes again after `ack_wait`.
 */
function endOnAbort(messages: ConsumerMessages, signal: AbortSignal): { end: () => void; letGo: () => void } {
  const { sub } = messages as ConsumerMessages & { readonly sub: Subscription };
  const end = () => {
    // The drain rejects only if the fetch has already ended: either its time was over, or the connection was lost. In both
    // cases, no event is on its way.
    sub.drain().catch(() => undefined);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end);
  return { end, letGo: () => signal.removeEventListener('abort', end) };
}

/** Waits until the time is over or the signal is aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined);
}
