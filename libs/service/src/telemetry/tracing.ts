import type { Logger } from 'pino';
import { readConfig } from '../config/read-config.ts';
import { tracingConfig, wantsTracing } from './tracing-config.ts';

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

let started: Tracing | undefined;

/** The traces of this process; undefined while it is not traced, which is all that costs then (docs/adr/0017). */
export function tracing(): Tracing | undefined {
  return started;
}

/** Starts tracing if OpenTelemetry's variables ask for it, before anything that is to be traced. Throws `StartError`. */
export async function startTracing(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(tracingConfig, env);
  if (!wantsTracing(config)) return;
  // Loaded only now: without tracing no part of the SDK is in memory.
  const { createTracing } = await import('./tracing-sdk.ts');
  started = createTracing(name, config);
}

/** Ends tracing; what is done afterwards is not traced. Repeatable. */
export async function stopTracing(): Promise<void> {
  const ending = started;
  started = undefined;
  await ending?.stop();
}
