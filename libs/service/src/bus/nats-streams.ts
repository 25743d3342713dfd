import type { JetStreamManager } from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';

/** The stream that holds a prefix's events, and the one of its dead letters. */
export function streamNames(prefix: string): { events: string; dead: string } {
  const base = prefix.toUpperCase().replaceAll(/[^A-Z0-9_-]/g, '_');
  return { events: `${base}_EVENTS`, dead: `${base}_DEAD` };
}

/** Creates the two streams. Idempotent; a stream an operator has tuned is left as it is. */
export async function ensureStreams(jsm: JetStreamManager, prefix: string): Promise<void> {
  const names = streamNames(prefix);
  const wanted = [
    { name: names.events, subjects: [`${prefix}.event.>`], max_age: nanos(7 * 24 * 3600 * 1000) },
    { name: names.dead, subjects: [`${prefix}.dead.>`], max_age: nanos(90 * 24 * 3600 * 1000) },
  ];
  for (const config of wanted) {
    try {
      await jsm.streams.info(config.name);
    } catch {
      await jsm.streams.add({ ...config, duplicate_window: nanos(120_000) });
    }
  }
}
