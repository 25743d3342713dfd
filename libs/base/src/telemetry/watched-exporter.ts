import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';

type Done = Parameters<SpanExporter['export']>[1];

/**
 * An exporter that logs when exports to the collector begin to fail, and when they succeed again. It logs one line for each of
 * these two events, not one line per export.
 */
export class WatchedExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  #log: Logger | undefined;
  #isAway = false;

  constructor(inner: SpanExporter) {
    this.#inner = inner;
  }

  logTo(log: Logger): void {
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: Done): void {
    this.#inner.export(spans, (result) => {
      const isAway = result.error !== undefined || result.code !== 0;
      if (isAway && !this.#isAway) this.#log?.warn({ err: result.error }, 'cannot export traces');
      if (!isAway && this.#isAway) this.#log?.info('traces are exported again');
      this.#isAway = isAway;
      done(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.#inner.forceFlush?.();
  }

  async shutdown(): Promise<void> {
    await this.#inner.shutdown();
  }
}
