import type { Logger } from 'pino';

/** Names and values of a span; what is undefined is left out. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** The `traceparent` of the cause; null begins a new trace. By default the active span is the parent. */
  parent?: string | null;
  attributes?: SpanAttributes;
}

/** One piece of work in a trace. It must not contain the text of an error, or anything that a client has sent. */
export interface TraceSpan {
  /** Its place in the trace, for work that it causes elsewhere. */
  readonly traceparent: string;
  /** Runs work with this span as the active one, even across `await`. */
  run<T>(work: () => T): T;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** @param failure What kind of failure it was (`error.type`): a code or the name of an error. */
  end(failure?: string): void;
}

/** The traces of this process. */
export interface Tracing {
  /** `traceparent` of the active span; undefined if there is none. */
  active(): string | undefined;
  start(name: string, options: SpanOptions): TraceSpan;
  /** Runs work that belongs to no trace, whoever has started it. */
  detached<T>(work: () => T): T;
  /** Sets the logger for trouble with the collector. */
  logTo(log: Logger): void;
  /** Sends the spans that are left, which takes at most a second, and ends tracing. */
  stop(): Promise<void>;
}
