import { createLogger } from '@kith/base';
import { NatsBus } from '../../src/nats.ts';

/** The child's work. It consumes events until the poison is a dead letter, and dies whenever it handles the poison. */
export interface NatsPoisonWork {
  url: string;
  prefix: string;
  durable: string;
  subject: string;
  poison: string;
  maxDeliveries: number;
}

const { url, prefix, durable, subject, poison, maxDeliveries }: NatsPoisonWork = JSON.parse(
  process.argv[2] ?? '{}',
);
const log = createLogger({ name: 'child', level: 'silent' });
const bus = await NatsBus.connect({ url, name: 'child', prefix, log });
const options = { durable, subjects: [subject], maxDeliveries, ackWaitMs: 1_500 };
await bus.consume(options, async ({ id, delivery }) => {
  process.stdout.write(`${id} ${delivery}\n`);
  if (id === poison) process.kill(process.pid, 'SIGKILL');
});
for (;;) {
  const { pending, dead } = await bus.backlog(durable);
  if (pending === 0 && dead > 0) break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await bus.close();
