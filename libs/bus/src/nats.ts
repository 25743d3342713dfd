import { setTimeout as wait } from 'node:timers/promises';
import { redactUrl, StartError, traceparentHeader } from '@kith/base';
import {
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
  jetstreamManager,
  PubHeaders,
} from '@nats-io/jetstream';
import {
  headers as createHeaders,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import type { Logger } from 'pino';
import {
  type Backlog,
  type Bus,
  type ConsumeOptions,
  type DeadLetter,
  type Delivery,
  type EventLogState,
  type Intake,
  idOfToken,
  type Message,
  maxPayload,
  NoResponders,
  type Notice,
  type OutgoingEvent,
  originalId,
  type RequestOptions,
  RequestTimeout,
  replayedId,
  subjectToken,
  type Withdrawal,
} from './bus.ts';
import { hearSafely } from './hear-safely.ts';
import { InFlight } from './in-flight.ts';
import { checkedMessage } from './message.ts';
import { firstConnection, inboxPrefix, type NatsBusOptions } from './nats-connection.ts';
import { NatsConsumer } from './nats-consumer.ts';
import {
  deadOnes,
  type Position,
  readBacklog,
  readDeadEvent,
  readDeadLetters,
  readGivenUp,
  replayMark,
} from './nats-dead-letters.ts';
import { consumerNotFound, ifThere, MayNotMake } from './nats-durables.ts';
import { decodeHeaders, encodeHeaders } from './nats-headers.ts';
import { NatsRequests, waitedHeader } from './nats-requests.ts';
import { ensureStreams, removeMessage } from './nats-streams.ts';
import { withdrawEvents } from './nats-withdraw.ts';
import { NatsWrites } from './nats-writes.ts';
import { receivedAt, watchAbsence } from './received-at.ts';
import { streamNames } from './stream-names.ts';

/**
 * Whether a message is a request, and not an event that the NATS server has delivered to the subject of requests. A NATS user
 * with the right to fetch events can choose any subject for their delivery. Events that arrive on a service's subject could
 * look like requests or notices. But the reply subject of such an event is not a client's inbox, and notices have no reply
 * subject (docs/adr/0056).
 */
const isAsked = ({ reply }: Msg) => reply?.startsWith('_INBOX') === true;

/** The bus of the distributed form: requests over core NATS, events on JetStream. */
export class NatsBus implements Bus {
  readonly prefix: string;
  readonly #nc: NatsConnection;
  readonly #writes: NatsWrites;
  readonly #requests: NatsRequests;
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #log: Logger;
  readonly #replicas: number;
  readonly #startMs: number;
  #withdrawing: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;
  readonly #consumers = new Set<NatsConsumer>();
  readonly #reconnected: (() => void)[] = [];
  #connected = true;
  /** The number of connections so far, including the first. */
  #connections = 1;
  /** Publications that have not been acknowledged. */
  readonly #waiting = new Set<(error: Error) => void>();
  /** The callbacks that end the waits for a connection. */
  readonly #absent = new Set<() => void>();
  #streams: Promise<void> | undefined;
  /** Aborted when the bus is closed. */
  readonly #ended = new AbortController();

  private constructor(nc: NatsConnection, jsm: JetStreamManager, options: NatsBusOptions) {
    this.prefix = options.prefix;
    this.#nc = nc;
    this.#writes = new NatsWrites(nc);
    this.#requests = new NatsRequests(nc, this.#writes, inboxPrefix(options.name));
    this.#js = jetstream(nc, { timeout: 5_000 });
    this.#jsm = jsm;
    this.#log = options.log;
    this.#replicas = options.replicas ?? 1;
    this.#startMs = options.startMs ?? 15_000;
    void nc.closed().then(() => this.#ended.abort());
    void this.#watch();
  }

  /**
   * Connects. Throws `StartError` if no server accepts the connection, or if the server's limit for the size of messages is too
   * low.
   */
  static async connect(options: NatsBusOptions): Promise<NatsBus> {
    const nc = await firstConnection(options);
    const allowed = nc.info?.max_payload ?? 0;
    if (allowed < maxPayload) {
      await nc.close();
      throw new StartError(
        `NATS at ${redactUrl(options.url)} allows messages of ${allowed} bytes; set max_payload to ${maxPayload} or more.`,
      );
    }
    return new NatsBus(nc, await jetstreamManager(nc, { checkAPI: false, timeout: 5_000 }), options);
  }

  async request(
    subject: string,
    message: Message,
    timeoutMs: number,
    how?: RequestOptions,
  ): Promise<Message> {
    const checked = checkedMessage(message);
    // Rejects immediately. Otherwise the client would keep the request until the connection is restored, and the request would
    // arrive too late.
    if (!this.isConnected()) throw new NoResponders('Not connected to NATS.');
    try {
      return await this.#requests.request(subject, checked, timeoutMs, how);
    } catch (error) {
      if (error instanceof NoResponders || error instanceof RequestTimeout || this.isConnected()) throw error;
      throw new NoResponders(`Not connected to NATS.`, { cause: error });
    }
  }

  async serve(
    subject: string,
    group: string,
    answer: (message: Message) => Promise<Message | undefined>,
  ): Promise<Intake> {
    watchAbsence();
    const inFlight = new InFlight();
    const respond = async (msg: Msg) => {
      const asked = decodeHeaders(msg);
      const waitedMs = Number(asked[waitedHeader] ?? 0);
      const reply = await answer({ headers: asked, body: msg.data, receivedAt: receivedAt(), waitedMs });
      if (!reply || !msg.reply) return;
      const { headers, body } = checkedMessage(reply);
      this.#writes.add({
        subject: msg.reply,
        body,
        options: { headers: encodeHeaders(headers) },
        failed: (error) => this.#log.error({ err: error, subject }, 'reply failed'),
      });
    };
    const subscription = this.#nc.subscribe(subject, {
      queue: group,
      callback: (error, msg) => {
        if (error) this.#log.error({ err: error, subject }, 'subscription failed');
        // The client does not await the promise of a callback. So the work is tracked and its errors are caught here.
        else if (isAsked(msg))
          inFlight.track(
            respond(msg).catch((failure) => this.#log.error({ err: failure, subject }, 'reply failed')),
          );
      },
    });
    // If the connection breaks now, the client subscribes again as soon as it is restored. Only the next flush then tells whether
    // the server accepts the subscription.
    await this.#atStart(() => this.#nc.flush());
    this.#checkAccepted(subscription);
    return {
      drain: async () => {
        if (!subscription.isClosed()) await subscription.drain();
        await inFlight.idle();
        this.#writes.flush();
        // If there is no connection, or if it breaks now, the replies are lost, and there is nothing to wait for.
        if (this.isConnected()) await this.#nc.flush().catch(() => undefined);
      },
    };
  }

  async publish(event: OutgoingEvent): Promise<number> {
    await this.#ensureStreams();
    try {
      const { subject, body, id: msgID, traceparent } = event;
      const headers = createHeaders();
      if (traceparent) headers.set(traceparentHeader, traceparent);
      const stored = this.#js.publish(subject, body, { msgID, headers });
      return (await this.#whileConnected(stored)).seq;
    } catch (error) {
      // The broker may have lost its streams. So the next attempt makes sure that they exist.
      this.#streams = undefined;
      throw error;
    }
  }

  /**
   * Waits for an answer of the server, and rejects as soon as the connection breaks. The answer may be lost with the
   * connection, so the caller should not wait for the timeout.
   */
  async #whileConnected<T>(answer: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.add(reject);
    answer.then(resolve, reject);
    return promise.finally(() => this.#waiting.delete(reject));
  }

  async log(): Promise<EventLogState> {
    // Makes sure again that the streams exist, because the broker may have lost them.
    await this.#makeStreams();
    const { created, state } = await this.#jsm.streams.info(streamNames(this.prefix).events);
    return { created: String(created), first: state.first_seq, last: state.last_seq, keepsUnheard: false };
  }

  async idAt(position: number): Promise<string | undefined> {
    const message = await this.#jsm.streams.getMessage(streamNames(this.prefix).events, { seq: position });
    const id = message?.header.get(PubHeaders.MsgIdHdr);
    return id ? originalId(id) : undefined;
  }

  async withdraw(events: readonly Withdrawal[]): Promise<void> {
    if (events.length === 0) return;
    await this.#ensureStreams();
    const parts = { jsm: this.#jsm, prefix: this.prefix };
    // Withdrawals run one after another, because each withdrawal reads many messages at the same time.
    const done = this.#withdrawing.then(() => withdrawEvents(parts, events));
    this.#withdrawing = done.catch(() => undefined);
    await done;
  }

  async deadEvents(): Promise<string[]> {
    await this.#ensureStreams();
    return [...(await deadOnes(this.#jsm, this.prefix)).dead].map(idOfToken);
  }

  async deadEvent(id: string): Promise<OutgoingEvent | undefined> {
    await this.#ensureStreams();
    const letter = await readDeadEvent(this.#jsm, this.prefix, subjectToken(id));
    return letter && { id, ...letter };
  }

  async consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake> {
    const consumer = new NatsConsumer(
      {
        js: this.#js,
        jsm: this.#jsm,
        prefix: this.prefix,
        log: this.#log,
        ensureStreams: () => this.#makeStreams(),
        current: () => (this.isConnected() ? this.#connections : undefined),
        connected: (signal) => this.#untilConnected(signal),
        flush: () => this.#nc.flush(),
      },
      options,
      handle,
    );
    await this.#atStart(() => consumer.open());
    consumer.start();
    this.#consumers.add(consumer);
    return {
      drain: async () => {
        await consumer.stop();
        this.#consumers.delete(consumer);
      },
    };
  }

  async startOver(durable: string): Promise<void> {
    await this.#atStart(async () => {
      await this.#ensureStreams();
      // Another process that uses the consumer notices that the consumer is missing, and creates it again.
      await ifThere(this.#jsm.consumers.delete(streamNames(this.prefix).events, durable), consumerNotFound);
    });
  }

  /** Every durable consumer of the stream of events. */
  async consumers(): Promise<Position[]> {
    await this.#ensureStreams();
    const found: Position[] = [];
    for await (const { name, config, ack_floor } of this.#jsm.consumers.list(
      streamNames(this.prefix).events,
    )) {
      const subjects = config.filter_subjects ?? [config.filter_subject ?? '>'];
      found.push({ durable: name, subjects, position: ack_floor.stream_seq });
    }
    return found;
  }

  /**
   * Returns the bodies of the events that any consumer has given up. Also returns the bodies of replayed events whose position
   * is above the position of at least one of the given consumers.
   */
  async givenUp(consumers: readonly Position[]): Promise<Uint8Array[]> {
    await this.#ensureStreams();
    return readGivenUp(this.#jsm, this.prefix, consumers);
  }

  async backlog(durable: string): Promise<Backlog> {
    return readBacklog(this.#jsm, this.prefix, durable);
  }

  async deadLetters(durable: string): Promise<DeadLetter[]> {
    await this.#ensureStreams();
    return (await readDeadLetters(this.#jsm, this.prefix, durable)).map(({ seq: _, ...letter }) => letter);
  }

  async replayDeadLetters(durable: string): Promise<number> {
    await this.#ensureStreams();
    const letters = await readDeadLetters(this.#jsm, this.prefix, durable);
    const streams = streamNames(this.prefix);
    for (const { seq, subject, id, body } of letters) {
      await this.#js.publish(replayMark(this.prefix, durable, id));
      const position = await this.publish({ subject, id: replayedId(id), body });
      // If the dead letter no longer exists, the event was withdrawn meanwhile. So the new copy is removed too.
      if (!(await removeMessage(this.#jsm, streams.dead, seq)))
        await removeMessage(this.#jsm, streams.events, position);
    }
    return letters.length;
  }

  async broadcast(subject: string, body: Uint8Array): Promise<void> {
    this.#nc.publish(subject, checkedMessage({ headers: {}, body }).body);
    await this.#nc.flush();
  }

  async listen(subject: string, hear: (notice: Notice) => void): Promise<Intake> {
    // If the bus is closed, `subscribe` throws another error. So `listenAtStart` does not wait for the connection for ever.
    if (!this.#connected && !this.#nc.isClosed()) throw new NoResponders('Not connected to NATS.');
    const subscription = this.#nc.subscribe(subject, {
      callback: (error, msg) => {
        if (error) this.#log.error({ err: error, subject }, 'subscription failed');
        else if (!msg.reply) hearSafely(hear, { subject: msg.subject, body: msg.data }, this.#log);
      },
    });
    try {
      await this.#nc.flush();
    } catch (error) {
      // The client would make the subscription again at each reconnect, although nobody can end it any more.
      subscription.unsubscribe();
      throw new NoResponders('Not connected to NATS.', { cause: error });
    }
    this.#checkAccepted(subscription);
    return {
      drain: async () => {
        if (!subscription.isClosed()) await subscription.drain();
      },
    };
  }

  onReconnect(callback: () => void): void {
    this.#reconnected.push(callback);
  }

  isConnected(): boolean {
    return this.#connected && !this.#nc.isClosed();
  }

  /**
   * Takes a step of the start. While the step fails, repeats it, because the keeper may be creating the streams and consumers.
   * Throws the error of the step if it has failed over the same connection for `startMs`. While there is no connection, waits
   * until there is one, no matter for how long. Throws if the bus is closed.
   */
  async #atStart(step: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#ended;
    let over: number | undefined;
    let until = 0;
    for (;;) {
      await this.#untilConnected(signal);
      if (over !== this.#connections) [over, until] = [this.#connections, performance.now() + this.#startMs];
      try {
        await step();
        return;
      } catch (error) {
        const isBroken = !this.isConnected() || over !== this.#connections;
        const isFinal = error instanceof StartError && !(error instanceof MayNotMake);
        if (signal.aborted || isFinal || (!isBroken && performance.now() > until)) throw error;
      }
      await wait(250, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Throws `StartError` if NATS has refused a subscription. The client has then closed this subscription. */
  #checkAccepted(subscription: Subscription): void {
    // A bus that is being closed closes its subscriptions, too.
    if (!subscription.isClosed() || this.#closing) return;
    const subject = subscription.getSubject();
    throw new StartError(
      `NATS refuses the subscription to ${subject}: update the rights (docs/transport.md), and reload NATS.`,
    );
  }

  /** Resolves when there is a connection, or when the signal is aborted. */
  async #untilConnected(signal: AbortSignal): Promise<void> {
    if (this.isConnected() || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        this.#absent.delete(end);
        signal.removeEventListener('abort', end);
        resolve();
      };
      this.#absent.add(end);
      signal.addEventListener('abort', end);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.stop()));
    this.#writes.flush();
    if (this.isConnected()) await this.#nc.drain();
    else await this.#nc.close();
  }

  /**
   * Creates the streams when they are first used, and not when the process connects. A process that never uses events has no
   * rights on JetStream, so it could not create them (docs/adr/0003).
   */
  #ensureStreams(): Promise<void> {
    this.#streams ??= this.#makeStreams().catch((error) => {
      this.#streams = undefined;
      throw error;
    });
    return this.#streams;
  }

  #makeStreams(): Promise<void> {
    return ensureStreams(this.#jsm, this.prefix, this.#replicas);
  }

  async #watch(): Promise<void> {
    for await (const status of this.#nc.status()) {
      if (status.type === 'disconnect') {
        this.#connected = false;
        for (const reject of this.#waiting) reject(new NoResponders('The connection to NATS broke.'));
      }
      if (status.type === 'reconnect') {
        this.#connected = true;
        this.#connections++;
        this.#requests.askAgain();
        for (const end of this.#absent) end();
        for (const callback of this.#reconnected) callback();
      }
      if (status.type === 'error') this.#requests.refused(status.error);
      if (status.type === 'disconnect' || status.type === 'reconnect' || status.type === 'error') {
        this.#log.warn(
          { nats: status.type, err: status.type === 'error' ? status.error : undefined },
          'nats',
        );
      }
    }
  }
}
