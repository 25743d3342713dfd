import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type DataFolder,
  type PlatformConfig,
  serviceNames,
  settingsOf,
  startServiceByName,
} from '@kith/platform';
import { InProcessBus, type Logger, Metrics, type RunningService, StartError } from '@kith/service';
import { serviceMoves } from './services.ts';

const everyMs = 100;
/** How long services get for what is on its way; an event that fails is tried for a quarter of an hour. */
const patienceMs = 20 * 60_000;

/**
 * Has the services of an embedded installation finish what is on its way, without a gateway: every event published, and
 * every consumer at the end of the log. So nothing has to be carried over but what is stored. Throws `StartError` when
 * a consumer does not get there.
 */
export async function untilQuiet(
  folder: DataFolder,
  { config, log, patience = patienceMs }: { config: PlatformConfig; log: Logger; patience?: number },
): Promise<void> {
  const bus = new InProcessBus({ prefix: config.KITH_PREFIX, file: folder.file('events.sqlite'), log });
  const services: RunningService[] = [];
  try {
    const runtime = { bus, log, metrics: new Metrics(), nodeEnv: config.NODE_ENV };
    for (const name of serviceNames) {
      const store = { kind: 'sqlite', file: folder.file(`${name}.sqlite`) } as const;
      services.push(await startServiceByName(name, runtime, { store, settings: settingsOf(config) }));
    }
    const until = Date.now() + patience;
    for (let busy = whatIsLeft(folder); busy; busy = whatIsLeft(folder)) {
      if (Date.now() > until) throw new StartError(`${busy}; it is to be there before the data is moved.`);
      await wait(everyMs);
    }
  } finally {
    await Promise.all(services.map((service) => service.stop()));
    await bus.close();
  }
  // Stopping may publish what was just stored: a last look, when nobody writes any more.
  const left = whatIsLeft(folder);
  if (left) throw new StartError(`${left}; start again.`);
}

/** What is still on its way, in a sentence without its end; nothing when all has arrived. */
function whatIsLeft(folder: DataFolder): string | undefined {
  for (const { service } of serviceMoves) {
    using db = new DatabaseSync(folder.file(`${service}.sqlite`), { timeout: 5_000 });
    if (db.prepare('SELECT 1 FROM events WHERE published = 0 LIMIT 1').get())
      return `Events of ${service} are not published`;
  }
  using db = new DatabaseSync(folder.file('events.sqlite'), { timeout: 5_000 });
  const behind = db
    .prepare(
      'SELECT durable FROM consumers WHERE position < (SELECT coalesce(max(position), 0) FROM events) LIMIT 1',
    )
    .get();
  const again = db.prepare('SELECT durable FROM redeliveries LIMIT 1').get();
  const durable = behind?.durable ?? again?.durable;
  return durable === undefined ? undefined : `The consumer ${durable} has not had all events`;
}
