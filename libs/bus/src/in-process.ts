import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  type Backlog,
  type Bus,
  type ConsumeOptions,
  type DeadLetter,
  type Delivery,
  type EventLogState,
  type Intake,
  type Message,
  NoResponders,
  type Notice,
  type OutgoingEvent,
  RequestTimeout,
  type Withdrawal,
} from './bus.ts';
import { EventLog } from './event-log.ts';
import { hearSafely } from './hear-safely.ts';
import { InFlight } from './in-flight.ts';
import { checkedMessage } from './message.ts';
import { subjectMatches } from './subject.ts';

type Answer = (message: Message) => Promise<Message | undefined>;

interface Server {
  answer: Answer;
  inFlight: InFlight;
}

/** Events that are published in the same turn of the event loop, and their positions once they are stored. */
interface Batch {
  events: OutgoingEvent[];
  stored: Promise<number[]>;
}

/** The bus of the embedded form: requests are calls in this process, and events are rows in one SQLite file. */
export class InProcessBus implements Bus {
  readonly prefix: string;
  readonly #servers = new Map<string, Server[]>();
  readonly #listeners = new Set<{ pattern: string; hear: (notice: Notice) => void }>();
  readonly #events: EventLog;
  readonly #log: Logger;
  #batch: Batch | undefined;
  #closed = false;

  /**
   * @param options.file SQLite file of the events, or `:memory:`.
   * @param options.durables The durables of all services, if they are known. After seven days, an event stays in the log only
   * if one of these durables still needs it.
   */
  constructor(options: { prefix: string; file: string; log: Logger; durables?: readonly string[] }) {
    this.prefix = options.prefix;
    this.#log = options.log;
    this.#events = new EventLog(options);
  }

  async request(subject: string, message: Message, timeoutMs: number): Promise<Message> {
    const request = checkedMessage(message);
    const servers = this.#servers.get(subject) ?? [];
    const server = servers.shift();
    if (this.#closed || !server) throw new NoResponders(`Nobody serves ${subject}.`);
    servers.push(server);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new RequestTimeout(`${subject} did not answer in ${timeoutMs} ms.`)),
        timeoutMs,
      );
      const work = async () => {
        try {
          // The server runs in the next turn of the event loop, and never inside the caller's stack. This is the same over
          // NATS.
          await nextTurn();
          const reply = await server.answer(request);
          if (!reply) return;
          resolve(checkedMessage(reply));
          clearTimeout(timer);
        } catch (error) {
          // As over NATS, the caller does not learn that the server failed. The request times out.
          this.#log.error({ err: error, subject }, 'reply failed');
        }
      };
      server.inFlight.track(work());
    });
  }

  async serve(subject: string, _group: string, answer: Answer): Promise<Intake> {
    const server: Server = { answer, inFlight: new InFlight() };
    const servers = this.#servers.get(subject) ?? [];
    servers.push(server);
    this.#servers.set(subject, servers);
    return {
      drain: async () => {
        const at = servers.indexOf(server);
        if (at >= 0) servers.splice(at, 1);
        await server.inFlight.idle();
      },
    };
  }

  async publish(event: OutgoingEvent): Promise<number> {
    this.#batch ??= this.#newBatch();
    const batch = this.#batch;
    const index = batch.events.push(event) - 1;
    const positions = await batch.stored;
    return positions[index] as number;
  }

  #newBatch(): Batch {
    const events: OutgoingEvent[] = [];
    const stored = Promise.resolve().then(() => {
      this.#batch = undefined;
      return this.#events.appendAll(events);
    });
    return { events, stored };
  }

  async log(): Promise<EventLogState> {
    return this.#events.state();
  }

  async idAt(position: number): Promise<string | undefined> {
    return this.#events.idAt(position);
  }

  async withdraw(events: readonly Withdrawal[]): Promise<void> {
    this.#events.withdraw(events.map(({ id }) => id));
  }

  async deadEvents(): Promise<string[]> {
    return this.#events.deadEvents();
  }

  async deadEvent(id: string): Promise<OutgoingEvent | undefined> {
    return this.#events.deadEvent(id);
  }

  async consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake> {
    return this.#events.consume(options, handle);
  }

  async startOver(durable: string): Promise<void> {
    this.#events.startOver(durable);
  }

  async backlog(durable: string): Promise<Backlog> {
    return this.#events.backlog(durable);
  }

  async deadLetters(durable: string): Promise<DeadLetter[]> {
    return this.#events.deadLetters(durable);
  }

  async replayDeadLetters(durable: string): Promise<number> {
    return this.#events.replayDeadLetters(durable);
  }

  async broadcast(subject: string, body: Uint8Array): Promise<void> {
    const notice = { subject, body: checkedMessage({ headers: {}, body }).body };
    await nextTurn();
    for (const { pattern, hear } of [...this.#listeners]) {
      if (subjectMatches(pattern, subject)) hearSafely(hear, notice, this.#log);
    }
  }

  async listen(subject: string, hear: (notice: Notice) => void): Promise<Intake> {
    const listener = { pattern: subject, hear };
    this.#listeners.add(listener);
    return {
      drain: async () => {
        this.#listeners.delete(listener);
      },
    };
  }

  /** Does nothing, because there is no connection to lose. */
  onReconnect(_callback: () => void): void {}

  isConnected(): boolean {
    return !this.#closed;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#events.close();
  }
}
