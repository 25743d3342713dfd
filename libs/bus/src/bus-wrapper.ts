import type {
  Backlog,
  Bus,
  ConsumeOptions,
  DeadLetter,
  Delivery,
  EventLogState,
  Intake,
  Message,
  Notice,
  OutgoingEvent,
  RequestOptions,
  Withdrawal,
} from './bus.ts';

/** Passes every call to another bus. A subclass overrides the methods that have to do more. */
export class BusWrapper implements Bus {
  readonly prefix: string;
  protected readonly inner: Bus;

  constructor(inner: Bus) {
    this.prefix = inner.prefix;
    this.inner = inner;
  }

  request(subject: string, message: Message, timeoutMs: number, how?: RequestOptions): Promise<Message> {
    return this.inner.request(subject, message, timeoutMs, how);
  }

  serve(
    subject: string,
    group: string,
    answer: (message: Message) => Promise<Message | undefined>,
  ): Promise<Intake> {
    return this.inner.serve(subject, group, answer);
  }

  publish(event: OutgoingEvent): Promise<number> {
    return this.inner.publish(event);
  }

  log(): Promise<EventLogState> {
    return this.inner.log();
  }

  idAt(position: number): Promise<string | undefined> {
    return this.inner.idAt(position);
  }

  withdraw(events: readonly Withdrawal[]): Promise<void> {
    return this.inner.withdraw(events);
  }

  deadEvents(): Promise<string[]> {
    return this.inner.deadEvents();
  }

  deadEvent(id: string): Promise<OutgoingEvent | undefined> {
    return this.inner.deadEvent(id);
  }

  consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake> {
    return this.inner.consume(options, handle);
  }

  startOver(durable: string): Promise<void> {
    return this.inner.startOver(durable);
  }

  backlog(durable: string): Promise<Backlog> {
    return this.inner.backlog(durable);
  }

  deadLetters(durable: string): Promise<DeadLetter[]> {
    return this.inner.deadLetters(durable);
  }

  replayDeadLetters(durable: string): Promise<number> {
    return this.inner.replayDeadLetters(durable);
  }

  broadcast(subject: string, body: Uint8Array): Promise<void> {
    return this.inner.broadcast(subject, body);
  }

  listen(subject: string, hear: (notice: Notice) => void): Promise<Intake> {
    return this.inner.listen(subject, hear);
  }

  onReconnect(callback: () => void): void {
    this.inner.onReconnect(callback);
  }

  isConnected(): boolean {
    return this.inner.isConnected();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
