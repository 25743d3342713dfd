import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, Metrics, StartError } from '@kith/base';
import { BusWrapper, type ConsumeOptions, type Delivery, type Intake } from '@kith/bus';
import { InProcessBus } from '@kith/bus/in-process';
import { type RunningService, startByManifest } from '@kith/service';
import type { PlatformConfig } from '../../forms/config.ts';
import type { DataFolder } from '../../forms/data-folder.ts';
import { filesUrl } from '../../forms/files-of.ts';
import { withKnownSecret } from '../../forms/installation-secret.ts';
import { serviceMoves, services } from '../../services.ts';

const everyMs = 100;
/**
 * How long services have to finish pending work, in ms. This is longer than the quarter of an hour for which an event that
 * fails is retried.
 */
const patienceMs = 20 * 60_000;

/** A bus that records which consumers the services have. */
class NotingBus extends BusWrapper {
  readonly durables = new Set<string>();

  override consume(options: ConsumeOptions, handle: (delivery: Delivery) => Promise<void>): Promise<Intake> {
    this.durables.add(options.durable);
    return super.consume(options, handle);
  }
}

export interface QuietOptions {
  config: PlatformConfig;
  log: Logger;
  /** Consumers that no service has any more. They need not reach the end of the log. */
  without?: readonly string[];
  patience?: number;
}

/**
 * Runs the services of an embedded installation, without a gateway, until they have finished their pending work. Then every event
 * is published, every consumer is at the end of the log, and only stored data has to be moved. Throws `StartError` if a consumer
 * does not reach the end in time. Throws it immediately if a consumer belongs to no service any more.
 */
export async function untilQuiet(
  folder: DataFolder,
  { config, log, without = [], patience = patienceMs }: QuietOptions,
): Promise<void> {
  const file = folder.file('events.sqlite');
  const bus = new NotingBus(new InProcessBus({ prefix: config.KITH_PREFIX, file, log }));
  const left = () => whatIsLeft(folder, without);
  const running: RunningService[] = [];
  try {
    const settings = withKnownSecret(folder, config);
    const runtime = { bus, log, metrics: new Metrics(), nodeEnv: config.NODE_ENV };
    for (const manifest of services) {
      const store = { kind: 'sqlite', file: folder.file(`${manifest.name}.sqlite`) } as const;
      // The erasures that happen here are already in the list of erasures. So the services get neither ERASURES_FILE nor a
      // folder in which they would make such a list. Without a folder, the services need STORAGE_URL to find the files' bytes.
      const own = { ERASURES_FILE: undefined, STORAGE_URL: settings.STORAGE_URL ?? filesUrl(folder) };
      const given = { config: { ...settings, ...own }, store, isSilent: true };
      running.push(await startByManifest(manifest, runtime, given));
    }
    for (const durable of behind(folder, without)) {
      if (bus.durables.has(durable)) continue;
      throw new StartError(
        `The consumer ${durable} has not received all events, and no service of this version has it. Use --without ${durable} to skip it.`,
      );
    }
    const until = Date.now() + patience;
    for (let busy = left(); busy; busy = left()) {
      if (Date.now() > until)
        throw new StartError(
          `${busy} yet. The data can be moved only when this is done. Run the command again.`,
        );
      await wait(everyMs);
    }
  } finally {
    await Promise.all(running.map((service) => service.stop()));
    await bus.close();
  }
  // Stopping the services may publish events that were just stored. So this function checks again, now that no service writes
  // any more.
  const late = left();
  if (late) throw new StartError(`${late}. Run the command again.`);
}

/** What is still pending, as a sentence without its full stop. `undefined` if nothing is pending. */
function whatIsLeft(folder: DataFolder, without: readonly string[]): string | undefined {
  for (const { service } of serviceMoves) {
    using db = new DatabaseSync(folder.file(`${service}.sqlite`), { timeout: 5_000 });
    if (db.prepare('SELECT 1 FROM events WHERE published = 0 LIMIT 1').get())
      return `Events of ${service} are not published`;
  }
  const [durable] = behind(folder, without);
  return durable === undefined ? undefined : `The consumer ${durable} has not received all events`;
}

/** The consumers that are not at the end of the log. */
function behind(folder: DataFolder, without: readonly string[]): string[] {
  using db = new DatabaseSync(folder.file('events.sqlite'), { timeout: 5_000 });
  const rows = db
    .prepare(
      `SELECT durable FROM consumers WHERE position < (SELECT coalesce(max(position), 0) FROM events)
         UNION SELECT durable FROM redeliveries`,
    )
    .all();
  return rows.map(({ durable }) => String(durable)).filter((durable) => !without.includes(durable));
}
