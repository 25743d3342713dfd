import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Logger } from '@kith/base';
import { originalId } from '@kith/bus';
import type { EventEnvelope } from '@kith/contracts';
import { noteRestored } from '@kith/store/open';
import { serviceOfEvent } from '../services.ts';
import type { DataFolder } from './data-folder.ts';
import { tablesOf } from './tables-of.ts';

/**
 * The maximum age of an event that is compared with the files, in ms. This is well below the time for which a file keeps its
 * events.
 */
const rememberedMs = 6 * 24 * 3600 * 1000;
/** How many of the newest events are searched for the last event of each service. */
const most = 5_000;

/**
 * Finds services whose file is older than their events in the log. Either somebody put back an older copy, or a power failure
 * removed the file's last changes, which can happen with `SQLITE_SYNCHRONOUS=normal`. Notes each of these files as restored.
 * Without this note, other services would take the service's next changes for old changes and ignore them (docs/adr/0028). The
 * files must not be open.
 */
export async function noteLostChanges(folder: DataFolder, log: Logger): Promise<void> {
  const { logId, last } = lastEvents(folder.file('events.sqlite'));
  for (const [service, { event, position }] of last) {
    const file = folder.file(`${service}.sqlite`);
    if (!hasLost(file, event, { logId, position })) continue;
    const epoch = await noteRestored({ kind: 'sqlite', file });
    log.error(
      { service, event: event.id, epoch },
      'the file has lost changes and is treated as restored from a backup',
    );
  }
}

/** An event in the log. */
interface Logged {
  event: EventEnvelope;
  position: number;
}

/** The last event of each service in the log, and the id of the log. */
function lastEvents(file: string): { logId?: string; last: Map<string, Logged> } {
  const last = new Map<string, Logged>();
  if (!statSync(file, { throwIfNoEntry: false })?.size) return { last };
  using db = new DatabaseSync(file, { timeout: 5_000 });
  const tables = tablesOf(db);
  if (!tables.has('events') || !tables.has('log')) return { last };
  const rows = db.prepare(
    'SELECT position, id, body FROM events WHERE at > ? ORDER BY position DESC LIMIT ?',
  );
  for (const { position, id, body } of rows.iterate(Date.now() - rememberedMs, most)) {
    // This event was published again, for example as a replayed dead letter. It may be so old that the service's file need not
    // have it.
    if (originalId(id as string) !== id) continue;
    const event = JSON.parse(new TextDecoder().decode(body as Uint8Array)) as EventEnvelope;
    const service = serviceOfEvent(event);
    if (service && !last.has(service)) last.set(service, { event, position: Number(position) });
  }
  return { logId: db.prepare('SELECT id FROM log').get()?.id as string, last };
}

/** Whether a service's file lacks an event that the service has published. */
function hasLost(
  file: string,
  { id, projectId, aggregate }: EventEnvelope,
  { logId, position }: { logId?: string | undefined; position: number },
): boolean {
  if (!statSync(file, { throwIfNoEntry: false })?.size) return false;
  using db = new DatabaseSync(file, { timeout: 5_000 });
  const tables = tablesOf(db);
  // A file of an earlier version has no epoch yet. It is not examined.
  if (!tables.has('events') || !tables.has('facts')) return false;
  // If the event was published before a restore that is already noted, the file need not have the event.
  const fact = db.prepare("SELECT value FROM facts WHERE name = 'epoch'").get()?.value as string | undefined;
  if (fact && (aggregate.epoch ?? 0) < (JSON.parse(fact) as { number: number }).number) return false;
  // If the file has marked this position or a later one as published, the file had the event at that time. Since then the event
  // was erased together with an account.
  const log = db.prepare("SELECT value FROM facts WHERE name = 'log'").get()?.value as string | undefined;
  const isMarked = db.prepare('SELECT 1 FROM marks WHERE position >= ? LIMIT 1');
  if (log && (JSON.parse(log) as { created: string }).created === logId && isMarked.get(position))
    return false;
  const own = `${projectId}|${aggregate.type}|${aggregate.id}|`;
  const found = db.prepare('SELECT 1 FROM events WHERE key > ? AND key < ? AND instr(event, ?) > 0 LIMIT 1');
  // In the order of characters, `}` comes right after `|`. So this finds all keys that begin with `own`.
  return !found.get(own, `${own.slice(0, -1)}}`, JSON.stringify(id));
}
