import type { Metrics } from '@kith/base';
import { type Bus, type Message, NoResponders, type RequestOptions, RequestTimeout } from './bus.ts';
import { BusWrapper } from './bus-wrapper.ts';

/** A bus that counts failed requests in the metrics, and reports there whether it is connected. */
export class MeasuredBus extends BusWrapper {
  readonly #metrics: Metrics;

  constructor(inner: Bus, metrics: Metrics) {
    super(inner);
    this.#metrics = metrics;
    metrics.busConnected.watch({}, () => Number(inner.isConnected()));
    inner.onReconnect(() => metrics.busReconnects.inc());
  }

  override async request(
    subject: string,
    message: Message,
    timeoutMs: number,
    how?: RequestOptions,
  ): Promise<Message> {
    try {
      return await this.inner.request(subject, message, timeoutMs, how);
    } catch (error) {
      // `<prefix>.<kind>.<service>.<operation>`
      const [service = ''] = subject
        .slice(this.prefix.length + 1)
        .split('.')
        .slice(1);
      this.#metrics.busFailures.inc({ service, reason: reasonOf(error) });
      throw error;
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NoResponders) return 'no_responders';
  return error instanceof RequestTimeout ? 'timeout' : 'error';
}
