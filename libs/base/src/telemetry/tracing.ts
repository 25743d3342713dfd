import { readConfig } from '../config/read-config.ts';
import type { Tracing } from './spans.ts';
import { tracingConfig, wantsTracing } from './tracing-config.ts';

let started: Tracing | undefined;

/** The traces of this process; undefined while it is not traced: this check is then all that tracing costs (docs/adr/0017). */
export function tracing(): Tracing | undefined {
  return started;
}

/** Starts tracing if OpenTelemetry's variables ask for it. Call it before any work that is to be traced. Throws `StartError`. */
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
