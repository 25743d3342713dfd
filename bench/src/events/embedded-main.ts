// Runs the embedded form in one process, as `npm start` does. Stores, relays and consumes events on SQLite files in FOLDER. Prints
// the figures as JSON.
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLogger } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { openDocuments } from '@kith/store/open';
import { startConsumer } from './consumer.ts';
import { Lags } from './lags.ts';
import { measureForm } from './measure.ts';
import { changeOf, declared } from './produced.ts';
import { produce } from './producer.ts';

const { FOLDER = '', EACH = '', BURST = '' } = process.env;
const sizes = { each: Number(EACH), burst: Number(BURST) };
const log = createLogger({ name: 'embedded', level: 'warn' });
const bus = new InProcessBus({ prefix: 'bench', file: join(FOLDER, 'bus.sqlite'), log });
const documents = await openDocuments({ kind: 'sqlite', file: join(FOLDER, 'producer.sqlite') }, declared);
const producer = {
  ...{ bus, outbox: documents.outbox },
  store: async (events: readonly Parameters<typeof changeOf>[0][]) => {
    for (const event of events) {
      await documents.change([changeOf(event)]);
      // In a real platform, each change comes in a separate request, so other work can run between two changes. To allow this
      // here, too, the code waits for the next turn of the event loop after each change.
      await nextTurn();
    }
  },
};
const lags = new Lags(sizes.burst + sizes.each);
await using undo = new AsyncDisposableStack();
undo.defer(async () => {
  await bus.close();
  await documents.close();
});
const figures = await measureForm({
  sizes,
  progress: (line) => process.stderr.write(`${line}\n`),
  produce: (phase, some) => produce(producer, phase, some),
  async startConsumer() {
    const store = { kind: 'sqlite', file: join(FOLDER, 'connections.sqlite') } as const;
    undo.use(await startConsumer(bus, { store, lags, system: 'in_process' }));
    return { pid: process.pid, bus, count: async () => lags.count, take: async () => lags.take() };
  },
});
process.stdout.write(`${JSON.stringify(figures)}\n`);
