import {
  type Backlog,
  type Bus,
  BusWrapper,
  type ConsumeOptions,
  type Delivery,
  type Intake,
  type Message,
  type Notice,
  type OutgoingEvent,
  type RequestOptions,
  subjectMatches,
  type Withdrawal,
} from '@kith/bus';
import { internalSubject, type NoticeSpec, noticeFilter, rpcSubject } from '@kith/contracts';
import type { BusUses } from './bus-uses.ts';

/**
 * Refuses every use of the bus that the manifest of a service does not list, in either form of deployment. NATS refuses the
 * same uses, because the service's user has no right to them (docs/adr/0003). Most refusals are thrown synchronously, because
 * some callers ignore the rejection of a promise. But `publish` rejects. So if one event of a batch is refused, the relay still
 * publishes the other events. For example, a newer version of the service may have stored an event that this version must not
 * publish.
 */
export class PermittedBus extends BusWrapper {
  readonly #name: string;
  readonly #served: ReadonlySet<string>;
  readonly #asked: ReadonlySet<string>;
  readonly #forwarded: string | undefined;
  readonly #features: ReadonlySet<string>;
  readonly #durables: ReadonlySet<string>;
  readonly #told: readonly string[];
  readonly #heard: readonly string[];

  constructor(inner: Bus, uses: BusUses) {
    super(inner);
    const { prefix } = inner;
    const { operations = {}, internal = [], asks = [], emits = [], subscriptions = [] } = uses;
    const filters = (notices: readonly NoticeSpec[] = []) => notices.map((one) => noticeFilter(prefix, one));
    this.#name = uses.name;
    this.#served = new Set([
      ...Object.values(operations).map(({ spec }) => rpcSubject(prefix, spec)),
      ...internal.map(({ spec }) => internalSubject(prefix, spec)),
    ]);
    this.#asked = new Set(asks.map((spec) => internalSubject(prefix, spec)));
    this.#forwarded = uses.forwards ? `${prefix}.rpc.` : undefined;
    this.#features = new Set(emits);
    this.#durables = new Set(subscriptions.map(({ durable }) => durable));
    this.#told = filters(uses.tells);
    this.#heard = filters(uses.hears);
  }

  override request(
    subject: string,
    message: Message,
    timeoutMs: number,
    how?: RequestOptions,
  ): Promise<Message> {
    const isForwarded = this.#forwarded !== undefined && subject.startsWith(this.#forwarded);
    if (!isForwarded && !this.#asked.has(subject)) {
      throw this.#refusal(`ask ${subject}`, 'the operation', 'asks');
    }
    return this.inner.request(subject, message, timeoutMs, how);
  }

  override serve(...[subject, group, answer]: Parameters<Bus['serve']>): Promise<Intake> {
    if (!this.#served.has(subject)) {
      throw this.#refusal(`serve ${subject}`, 'its handler', 'operations', 'internal');
    }
    return this.inner.serve(subject, group, answer);
  }

  override async publish(event: OutgoingEvent): Promise<number> {
    this.#checkFeature('publish', event);
    return this.inner.publish(event);
  }

  override async withdraw(events: readonly Withdrawal[]): Promise<void> {
    for (const event of events) this.#checkFeature('withdraw', event);
    return this.inner.withdraw(events);
  }

  override async deadEvents(): Promise<string[]> {
    this.#checkEmits();
    return this.inner.deadEvents();
  }

  override async deadEvent(id: string): Promise<OutgoingEvent | undefined> {
    this.#checkEmits();
    return this.inner.deadEvent(id);
  }

  override consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake> {
    this.#checkDurable(`consume events as ${options.durable}`, options.durable);
    return this.inner.consume(options, handle);
  }

  override startOver(durable: string): Promise<void> {
    this.#checkDurable(`start ${durable} over`, durable);
    return this.inner.startOver(durable);
  }

  override backlog(durable: string): Promise<Backlog> {
    this.#checkDurable(`read the backlog of ${durable}`, durable);
    return this.inner.backlog(durable);
  }

  override broadcast(subject: string, body: Uint8Array): Promise<void> {
    if (!matches(this.#told, subject)) throw this.#refusal(`tell ${subject}`, 'the notice', 'tells');
    return this.inner.broadcast(subject, body);
  }

  override listen(subject: string, hear: (notice: Notice) => void): Promise<Intake> {
    if (!matches(this.#heard, subject)) throw this.#refusal(`hear ${subject}`, 'the notice', 'hears');
    return this.inner.listen(subject, hear);
  }

  #checkFeature(how: string, { subject }: { subject: string }): void {
    // `<prefix>.event.<project>.<feature>.<name>`
    const from = subject.indexOf('.', this.prefix.length + '.event.'.length) + 1;
    const feature = subject.slice(from, subject.indexOf('.', from));
    if (!this.#features.has(feature)) {
      throw this.#refusal(`${how} ${subject}`, `'${feature}'`, 'emits');
    }
  }

  #checkEmits(): void {
    if (this.#features.size === 0) throw this.#refusal('read dead letters', 'its features', 'emits');
  }

  #checkDurable(does: string, durable: string): void {
    if (!this.#durables.has(durable)) throw this.#refusal(does, 'the subscription', 'subscriptions');
  }

  #refusal(does: string, what: string, ...lines: string[]): Error {
    const where = lines.map((line) => `\`${line}\``).join(' or ');
    return new Error(
      `${this.#name} may not ${does}. To allow it, add ${what} to ${where} in the manifest of ${this.#name}.`,
    );
  }
}

function matches(filters: readonly string[], subject: string): boolean {
  return filters.includes(subject) || filters.some((filter) => subjectMatches(filter, subject));
}
