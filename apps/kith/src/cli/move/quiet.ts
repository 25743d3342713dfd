import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type Logger, Metrics, StartError } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { type RunningService, startByManifest } from '@kith/service';
import type { PlatformConfig } from '../../forms/config.ts';
import type { DataFolder } from '../../forms/data-folder.ts';
import { filesUrl } from '../../forms/files-of.ts';
import { withKnownSecret } from '../../forms/installation-secret.ts';
import { durables, serviceMoves, services } from '../../services.ts';

const everyMs = 100;
/**
 * How long services may go without progress in their pending work, in ms. This is longer than the quarter of an hour for which
 * an event that fails is retried.
 */
const patienceMs = 20 * 60_000;

export interface QuietOptions {
  config: PlatformConfig;
  log: Logger;
  /** Consumers that no service has any more. They need not reach the end of the log. */
  without?: readonly string[];
  patience?: number;
}

/**
 * Runs the services of an embedded installation, without a gateway, until they have finished their pending work. Then every
 * event is published, every consumer is at the end of the log, and only stored data has to be moved. Throws `StartError` if the
 * services make no progress for `patience`. Throws it immediately if a consumer belongs to no service any more, or if `without`
 * names a consumer of a service.
 */
export async function untilQuiet(
  folder: DataFolder,
  { config, log, without = [], patience = patienceMs }: QuietOptions,
): Promise<void> {
  const file = folder.file('events.sqlite');
  const bus = new InProcessBus({ prefix: config.KITH_PREFIX, file, log });
  const left = () => whatIsLeft(folder, without);
  const running: RunningService[] = [];
  try {
    refuseServed(folder, without);
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
    let until = Date.now() + patience;
    let done = positions(folder);
    for (let busy = left(); busy; busy = left()) {
      const now = positions(folder);
      if (now !== done) until = Date.now() + patience;
      done = now;
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
  // While the services stopped, they may have published events that were just stored. So this function checks again, now that
  // no service writes any more.
  const late = left();
  if (late) throw new StartError(`${late}. Run the command again.`);
}

/**
 * Throws `StartError` if `without` names a consumer of a service. If this consumer were skipped, the service would lose events.
 */
function refuseServed(folder: DataFolder, without: readonly string[]): void {
  const served = without.find((durable) => durables.includes(durable));
  if (served === undefined) return;
  using db = new DatabaseSync(folder.file('events.sqlite'), { timeout: 5_000 });
  const stored = db.prepare('SELECT durable FROM consumers').all();
  const retired = stored.map(({ durable }) => String(durable)).filter((one) => !durables.includes(one));
  const advice =
    retired.length > 0 ? `Consumers without a service: ${retired.join(', ')}.` : 'Leave out --without.';
  throw new StartError(
    `--without ${served} would skip events of a consumer that a service of this version has. ${advice}`,
  );
}

/**
 * What is still pending, as a sentence without its full stop. `undefined` if nothing is pending. Throws `StartError` if a
 * consumer without a service has not received all events. The services may publish events during the wait, so this can happen
 * to a consumer that had received all events before.
 */
function whatIsLeft(folder: DataFolder, without: readonly string[]): string | undefined {
  for (const { service } of serviceMoves) {
    using db = new DatabaseSync(folder.file(`${service}.sqlite`), { timeout: 5_000 });
    if (db.prepare('SELECT 1 FROM events WHERE published = 0 LIMIT 1').get())
      return `Events of ${service} are not published`;
  }
  const waiting = behind(folder, without);
  const retired = waiting.find((durable) => !durables.includes(durable));
  if (retired !== undefined)
    throw new StartError(
      `The consumer ${retired} has not received all events, and no service of this version has it. Use --without ${retired} to skip it.`,
    );
  const [durable] = waiting;
  return durable === undefined ? undefined : `The consumer ${durable} has not received all events`;
}

/** The sum of the log's and all consumers' positions. It changes while services make progress. */
function positions(folder: DataFolder): number {
  using db = new DatabaseSync(folder.file('events.sqlite'), { timeout: 5_000 });
  const sum = `SELECT (SELECT coalesce(sum(position), 0) FROM consumers)
    + (SELECT coalesce(max(position), 0) FROM events) AS sum`;
  return Number(db.prepare(sum).get()?.sum);
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
