import { type TraceSpan, type Tracing, traceparentHeader } from '@kith/base';
import type { Bus, ConsumeOptions, Delivery, Intake, Message, OutgoingEvent, RequestOptions } from './bus.ts';
import { BusWrapper } from './bus-wrapper.ts';
import { codeHeader, statusHeader } from './reply-headers.ts';

/**
 * A bus that traces its messages. It makes a span for each side of a request, for publishing an event, and for each attempt to
 * apply an event. The header `traceparent` carries the trace parent. Baggage is not passed on (docs/adr/0017).
 */
export class TracingBus extends BusWrapper {
  readonly #tracing: Tracing;
  readonly #system: string;

  /** @param options.system The system that carries messages: `nats` or `in_process`. */
  constructor(inner: Bus, options: { tracing: Tracing; system: string }) {
    super(inner);
    this.#tracing = options.tracing;
    this.#system = options.system;
  }

  override async request(
    subject: string,
    message: Message,
    timeoutMs: number,
    how?: RequestOptions,
  ): Promise<Message> {
    // If no span is active, the process makes this request on its own, for example at regular intervals. Such a request belongs
    // to no trace.
    if (this.#tracing.active() === undefined) return this.inner.request(subject, message, timeoutMs, how);
    const span = this.#rpcSpan(subject, 'client');
    const headers = { ...message.headers, [traceparentHeader]: span.traceparent };
    try {
      const reply = await span.run(() =>
        this.inner.request(subject, { headers, body: message.body }, timeoutMs, how),
      );
      endRpc(span, reply);
      return reply;
    } catch (error) {
      span.end((error as Error).name);
      throw error;
    }
  }

  override serve(
    subject: string,
    group: string,
    answer: (message: Message) => Promise<Message | undefined>,
  ): Promise<Intake> {
    const isInternal = subject.startsWith(`${this.prefix}.svc.`);
    return this.inner.serve(subject, group, async (message) => {
      const parent = message.headers[traceparentHeader] ?? null;
      if (isInternal && parent === null) return this.#tracing.detached(() => answer(message));
      const span = this.#rpcSpan(subject, 'server', parent);
      const headers = { ...message.headers, [traceparentHeader]: span.traceparent };
      try {
        const reply = await span.run(() => answer({ ...message, headers }));
        endRpc(span, reply);
        return reply;
      } catch (error) {
        span.end((error as Error).name);
        throw error;
      }
    });
  }

  override publish(event: OutgoingEvent): Promise<number> {
    const parent = event.traceparent ?? this.#tracing.active();
    // If the change that the event reports was not traced, the event is not traced either.
    if (parent === undefined) return this.inner.publish(event);
    const type = typeOf(event.subject);
    const span = this.#tracing.start(`publish ${type}`, {
      kind: 'producer',
      parent,
      attributes: {
        ...this.#messaging(type, 'send', event.id),
        'messaging.operation.name': 'publish',
      },
    });
    // Runs outside the trace, because publishing wakes a consumer in this process, and the consumer's work must not belong to
    // this trace.
    const sent = this.#tracing.detached(() =>
      this.inner.publish({ ...event, traceparent: span.traceparent }),
    );
    return ended(span, sent);
  }

  override consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake> {
    return this.inner.consume(options, (delivery) => {
      const type = typeOf(delivery.subject);
      const span = this.#tracing.start(`process ${type}`, {
        kind: 'consumer',
        // The span is a child of the publishing span, not only linked to it. Events are applied one by one, so each span has
        // one cause.
        parent: delivery.traceparent ?? null,
        attributes: {
          ...this.#messaging(type, 'process', delivery.id),
          'messaging.operation.name': 'process',
          'messaging.consumer.group.name': options.durable,
          'kith.delivery': delivery.delivery,
        },
      });
      return ended(
        span,
        span.run(() => handle({ ...delivery, traceparent: span.traceparent })),
      );
    });
  }

  /**
   * A notice carries no trace. But the in-process bus calls the listeners inside the sender's async context. So the notice is
   * sent outside the sender's trace. Otherwise, the listeners' work would belong to the sender's trace.
   */
  override broadcast(subject: string, body: Uint8Array): Promise<void> {
    return this.#tracing.detached(() => this.inner.broadcast(subject, body));
  }

  #rpcSpan(subject: string, kind: 'client' | 'server', parent?: string | null): TraceSpan {
    // `<prefix>.<kind>.<operation>`
    const operation = subject.slice(this.prefix.length + 1 + 'rpc.'.length);
    return this.#tracing.start(operation, {
      kind,
      ...(parent === undefined ? {} : { parent }),
      attributes: { 'rpc.system': this.#system, 'rpc.system.name': this.#system, 'rpc.method': operation },
    });
  }

  #messaging(type: string, operation: string, id: string) {
    return {
      'messaging.system': this.#system,
      'messaging.operation.type': operation,
      'messaging.destination.template': `${this.prefix}.event.*.${type}`,
      'messaging.message.id': id,
    };
  }
}

/** The type of an event, read from its subject, `<prefix>.event.<projectId>.<feature>.<name>`. */
function typeOf(subject: string): string {
  return subject.split('.').slice(3).join('.');
}

function endRpc(span: TraceSpan, reply: Message | undefined): void {
  if (!reply) {
    span.end('deadline');
    return;
  }
  const status = reply.headers[statusHeader] ?? '';
  span.set({ 'rpc.response.status_code': status });
  // As in the traces of HTTP, a reply that refuses the request (4xx) does not count as a failure of the server.
  span.end(Number(status) >= 500 ? (reply.headers[codeHeader] ?? status) : undefined);
}

async function ended<T>(span: TraceSpan, work: Promise<T>): Promise<T> {
  try {
    const result = await work;
    span.end();
    return result;
  } catch (error) {
    span.end((error as Error).name);
    throw error;
  }
}
