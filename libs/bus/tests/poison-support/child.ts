import { setInterval } from 'node:timers/promises';
import { createLogger } from '@kith/base';
// Does not load the whole library, because several of these processes are started.
import { EventLog } from '../../src/event-log.ts';

/** Consumes events from a log until the poison event is a dead letter, and dies each time it handles the poison event. */
export interface PoisonWork {
  file: string;
  poison: string;
  last: string;
  maxDeliveries: number;
  /** Whether the consumer's database loses its notes of progress. */
  isForgetful?: boolean;
}

const { file, poison, last, maxDeliveries, isForgetful }: PoisonWork = JSON.parse(process.argv[2] ?? '{}');
const events = new EventLog({ prefix: 'x', file, log: createLogger({ name: 'child', level: 'silent' }) });
const progress = isForgetful ? { read: () => undefined, note: () => undefined } : undefined;
const options = { durable: 'd', subjects: ['x.>'], maxDeliveries, backoffMs: [1], progress };
events.consume(options, async ({ id, delivery }) => {
  process.stdout.write(`${id} ${delivery}\n`);
  if (id === poison) process.kill(process.pid, 'SIGKILL');
});
events.append({ subject: 'x.event.p.thing.made', id: last, body: new Uint8Array() });
for await (const _ of setInterval(5)) if (events.deadLetters('d').length > 0) break;
await events.close();
