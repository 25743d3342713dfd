import type { Logger } from 'pino';

/** Names and values of a span; what is undefined is left out. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

export interface SpanOptions {
  kind: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** `traceparent` of what caused it; null begins a trace. Not given, it is the active span. */
  parent?: string | null;
  attributes?: SpanAttributes;
}

/** One piece of work in a trace. No text of an error belongs into it, nor anything a client has sent. */
export interface TraceSpan {
  /** Its place in the trace, for what it causes elsewhere. */
  readonly traceparent: string;
  /** Runs work in which this span is the active one, also after it has waited. */
  run<T>(work: () => T): T;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** @param failure What kind of failure it was (`error.type`): a code or the name of an error. */
  end(failure?: string): void;
}

/** The traces of this process. */
export interface Tracing {
  /** `traceparent` of the active span; undefined where there is none. */
  active(): string | undefined;
  start(name: string, options: SpanOptions): TraceSpan;
  /** Runs work that belongs to no trace, whoever has set it going. */
  detached<T>(work: () => T): T;
  /** Tells where trouble with the collector is logged. */
  logTo(log: Logger): void;
  /** Sends what is there, for at most a second. */
  stop(): Promise<void>;
}
