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
import { ensureConsumer, MayNotMake } from './nats-durables.ts';
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

/** An event, and the number of the connection over which it came. */
interface Fetched {
  message: JsMsg;
  over: number | undefined;
}

/** Those events of a fetch that are not begun immediately. */
interface Rest {
  /** Events that may kill their process. */
  suspects: Fetched[];
  /** Events that are to be given back. */
  left: Fetched[];
}

/** The headers of a dead letter, beside the event's body. */
export const subjectHeader = 'Kith-Subject';
export const errorHeader = 'Kith-Error';
const maxErrorLength = 1_000;
/** The maximum number of events per fetch. The number is so low that work on the last event begins well within `ack_wait`. */
const batch = 50;
/** How long a start waits for streams and consumers that another process makes, in ms (docs/adr/0056). */
const keeperMs = 15_000;
/**
 * How long a fetch waits for events, in ms. The client gives up a fetch that hears nothing from the server for about half of
 * this time after a heartbeat is due. Events that the server has sent by then come again only after `ack_wait`.
 */
const fetchMs = 5_000;

/**
 * A durable pull consumer. It limits the number of deliveries itself, and does not use the server's `max_deliver`. The server would
 * drop an event that it gives up, but the event has to reach the dead-letter subject.
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

  async start(): Promise<void> {
    await this.#firstOpen();
    // Tells the server that events are still being worked on. Otherwise slow events, and events that wait for a store to come
    // back, would go to another replica.
    this.#heartbeat = setInterval(() => {
      // Without a connection, the calls would only gather until it is back.
      if (this.#connection.current() === undefined) return;
      for (const one of this.#held) void this.#tell(one, (message) => message.working());
    }, this.#options.ackWaitMs / 3);
    this.#heartbeat.unref();
    this.#loop = this.#run();
  }

  /** Ends the fetch, gives back events that nobody works on yet, and waits for events that are being handled. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#loop;
    await this.#working.idle();
    clearInterval(this.#heartbeat);
  }

  /** Opens the consumer. If the consumer is not there, waits, because the keeper may be making it just now. */
  async #firstOpen(): Promise<void> {
    const until = performance.now() + keeperMs;
    for (;;) {
      try {
        await this.#open();
        return;
      } catch (error) {
        if (!(error instanceof MayNotMake) || performance.now() > until) throw error;
        await pause(250, this.#stopped.signal);
      }
    }
  }

  async #open(): Promise<Consumer> {
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
      // The client drops requests that are made without a connection, and they time out only after seconds.
      await this.#connection.connected(this.#stopped.signal);
      if (this.#stopped.signal.aborted) return;
      try {
        const consumer = this.#consumer ?? (await this.#open());
        const { suspects, left } = await this.#fetch(consumer, await mostOf(consumer));
        // Gives back the events that were fetched but will not be worked on here, so that another replica gets them
        // immediately. This is done only after the fetch: while this replica still fetches, the server could send such an event
        // back here.
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
   * Fetches events and begins to work on them, until the fetch ends. Keeps suspects for later. Fetches batches and not an endless
   * stream. If a stream were closed, events on their way would be lost until `ack_wait` is over.
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
        // While any event comes again, events are fetched one at a time (`mostOf`). A suspect waits for the end of its fetch.
        if (message.info.deliveryCount > 1) end();
        // A suspect is worked on even if this process stops. If it were given back, it would lose one of its last attempts.
        if (this.#isSuspect(message)) rest.suspects.push(one);
        else if (this.#stopped.signal.aborted) rest.left.push(one);
        else await this.#begin(one);
      }
    } catch (error) {
      // The client throws this error at the end of a fetch if work on its events took longer than a second. All its events
      // have arrived.
      if (fetched === 0 || (error as Error).message !== heartbeatsMissed) throw error;
    } finally {
      letGo();
    }
    return rest;
  }

  /**
   * Whether an event may be one that kills its process. The server counts the deliveries of every event that the process holds
   * when it dies. If such an event always came together with the same other events, the other events would be given up too,
   * although no handler ever got them.
   */
  #isSuspect(message: JsMsg): boolean {
    return message.info.deliveryCount > Math.max(this.#options.maxDeliveries / 2, 1);
  }

  /** Works on one suspect after the other, while this process holds no other event of the consumer. */
  async #workAlone(suspects: Fetched[]): Promise<void> {
    for (const one of suspects) this.#held.add(one);
    try {
      for (const one of suspects) {
        await this.#working.idle();
        // The server must know what became of the other events before this process can die. If the connection is lost, the
        // server cannot be told. Then this process works on the event all the same.
        await this.#connection.flush().catch(() => undefined);
        await this.#begin(one);
        await this.#working.idle();
      }
    } finally {
      for (const one of suspects) this.#held.delete(one);
    }
  }

  /** Begins to work on an event; resolves when there is room for the next one. */
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

  /** Works on an event and tells the server the outcome. */
  async #deliver(fetched: Fetched): Promise<void> {
    const { message } = fetched;
    const { durable, maxDeliveries, backoffMs } = this.#options;
    const { log } = this.#connection;
    const delivery = message.info.deliveryCount;
    const id = message.headers?.get(PubHeaders.MsgIdHdr) ?? String(message.seq);
    const traceparent = message.headers?.get(traceparentHeader) || undefined;
    try {
      // A process that dies because of an event cannot count the failure, so this checks the server's count.
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
   * Tells the server what became of an event. The server identifies the event by its number. After a reconnect, the broker may have
   * lost its files. The number may then belong to another event, which nobody has worked on. So this first looks whether the number
   * still belongs to the event. If the number no longer belongs to the event, or if this cannot be found out, the server is told
   * nothing. If the event is still there, it comes again after `ack_wait`. Without a connection, this waits until there is one, or
   * until the consumer stops.
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
      // If the connection broke meanwhile, its answer says nothing.
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
      // If the event was withdrawn while it was handled, the withdrawal came too early to find this letter. So this removes the
      // letter.
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
 * How many events to fetch. The server counts deliveries, not attempts: if a process dies, each event that it holds has used up
 * one delivery. So while any event comes again, a process fetches one event at a time. It then holds only events that it works
 * on. So from its third delivery on, an event uses up no delivery because of another event that kills the process.
 */
async function mostOf(consumer: Consumer): Promise<number> {
  const { num_redelivered: again } = await consumer.info();
  return again > 0 ? 1 : batch;
}

/**
 * The error that the client throws if a fetch receives nothing for the time of two heartbeats. The client measures this time
 * until this process has taken the last event of the fetch, even if all events have arrived.
 */
const heartbeatsMissed = 'heartbeats missed';

/**
 * Ends a fetch when the signal is aborted, or when `end` is called. After a call of `letGo`, an abort no longer ends the fetch.
 * The fetch ends by draining the subscription. Events that the server sends before it knows of the drain still arrive. Events
 * that it can no longer deliver go to another replica immediately. The client has no public method for this, and its `close`
 * drops events on their way. In a cluster, an event can be on its way between servers when the drain arrives. Such an event
 * comes again after `ack_wait`.
 */
function endOnAbort(messages: ConsumerMessages, signal: AbortSignal): { end: () => void; letGo: () => void } {
  const { sub } = messages as ConsumerMessages & { readonly sub: Subscription };
  const end = () => {
    // The drain rejects only if the fetch has ended already, by itself or with its connection. Then no event is on its way.
    sub.drain().catch(() => undefined);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end);
  return { end, letGo: () => signal.removeEventListener('abort', end) };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
