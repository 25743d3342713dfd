import { readConfig } from '../config/read-config.ts';
import type { Tracing } from './spans.ts';
import { tracingConfig, wantsTracing } from './tracing-config.ts';

let started: Tracing | undefined;

/**
 * The traces of this process; undefined if tracing is off. When tracing is off, it costs no more than a call of this function
 * (docs/adr/0017).
 */
export function tracing(): Tracing | undefined {
  return started;
}

/**
 * Starts tracing if OpenTelemetry's variables ask for it. Call it before any work that is to be traced. Throws `StartError`.
 */
export async function startTracing(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const config = readConfig(tracingConfig, env);
  if (!wantsTracing(config)) return;
  // The SDK is loaded only here. So without tracing, no part of it is in memory.
  const { createTracing } = await import('./tracing-sdk.ts');
  started = createTracing(name, config);
}

/** Ends tracing. Later work is not traced. Repeatable. */
export async function stopTracing(): Promise<void> {
  const ending = started;
  started = undefined;
  await ending?.stop();
}
