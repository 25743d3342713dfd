import type { Logger } from 'pino';

/** The attributes of a span, as names and values. Undefined values are left out. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** The `traceparent` of the span that caused the work. Null begins a new trace. If absent, the active span is the parent. */
  parent?: string | null;
  attributes?: SpanAttributes;
}

/** A piece of work in a trace. A span must not contain the text of an error, or anything that a client has sent. */
export interface TraceSpan {
  /**
   * The place of the span in the trace. If other processes work for this span, send this value to them in the request or event.
   */
  readonly traceparent: string;
  /** Runs work. This span is the active span during the work, even after an `await`. */
  run<T>(work: () => T): T;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** @param failure What kind of failure it was (`error.type`): a code or the name of an error. */
  end(failure?: string): void;
}

/** The traces of this process. */
export interface Tracing {
  /** The `traceparent` of the active span; undefined if no span is active. */
  active(): string | undefined;
  start(name: string, options: SpanOptions): TraceSpan;
  /** Runs work outside all traces, even if work inside a trace has started it. */
  detached<T>(work: () => T): T;
  /** Sets the logger for errors of the exports to the collector. */
  logTo(log: Logger): void;
  /** Sends the remaining spans, which takes at most a second. Then ends tracing. */
  stop(): Promise<void>;
}
