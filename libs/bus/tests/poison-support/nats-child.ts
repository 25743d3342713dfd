import { createLogger } from '@kith/base';
import { NatsBus } from '../../src/nats.ts';

/** Consumes events until all poison events are dead letters, and dies each time it handles one. */
export interface NatsPoisonWork {
  url: string;
  prefix: string;
  durable: string;
  subject: string;
  poisons: readonly string[];
  maxDeliveries: number;
}

const { url, prefix, durable, subject, poisons, maxDeliveries }: NatsPoisonWork = JSON.parse(
  process.argv[2] ?? '{}',
);
const log = createLogger({ name: 'child', level: 'silent' });
const bus = await NatsBus.connect({ url, name: 'child', prefix, log });
const options = { durable, subjects: [subject], maxDeliveries, ackWaitMs: 4_000 };
await bus.consume(options, async ({ id, delivery }) => {
  process.stdout.write(`${id} ${delivery}\n`);
  if (poisons.includes(id)) process.kill(process.pid, 'SIGKILL');
});
for (;;) {
  const { pending, dead } = await bus.backlog(durable);
  if (pending === 0 && dead === poisons.length) break;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await bus.close();
