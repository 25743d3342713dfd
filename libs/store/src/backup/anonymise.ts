import { DatabaseSync } from 'node:sqlite';
import { StartError } from '@kith/base';
import { z } from 'zod';
import { type AnyCollection, asDeclared } from '../documents/collection.ts';
import { replyCollection } from '../documents/reply-collection.ts';
import type { AnyStored } from './any-stored.ts';
import { DocumentsFile } from './documents-file.ts';
import type { MadeUp } from './made-up.ts';
import type { ServiceBackup } from './service-backup.ts';

const atOnce = 1_000;

/**
 * Copies a service's file from a backup, and replaces the data of people in the copy. Leaves out events, because events show
 * what people have done. Computes the counters again, because their old values may include rows that are left out. Also leaves
 * out fields that this version does not know. Throws `StartError` if a field has a value that this version does not know.
 */
export function anonymise(backup: ServiceBackup, from: string, to: string, made: MadeUp): void {
  using source = new DatabaseSync(from);
  using file = new DocumentsFile(to, backup.declared);
  for (const of of backup.declared.collections) {
    // Leaves out the kept answers to requests with an idempotency key. Such an answer may contain texts that people wrote.
    // These texts cannot be replaced, because the answer is sealed with a key that is stored nowhere.
    if (of === replyCollection) continue;
    const standIn = backup.anonymous[of.name];
    if (!standIn)
      throw new Error(`The backup of ${backup.service} does not say how to anonymise ${of.name}.`);
    for (const rows of rowsOf(source, of.name)) {
      file.together(() => {
        for (const { id, shape, doc, changed = null, epoch = 0, newest = 0 } of rows) {
          const stored = { id, doc: asDeclared(of, JSON.parse(doc), shape) };
          const other = known(backup.service, of, () => standIn(stored, made));
          if (other) file.put(of, { ...other, changed, epoch, newest });
        }
      });
    }
  }
  file.sumUp(backup);
  // Other services keep copies of this service's data, and these copies compare versions by epoch first. So the file keeps its
  // epoch. With an epoch of 0, the copies would ignore every later change.
  const epoch = source.prepare("SELECT value FROM facts WHERE name = 'epoch'").get();
  if (epoch) file.noteFact('epoch', JSON.parse(epoch.value as string));
  file.close();
}

/**
 * A document with only the fields that its schema knows. A newer version may have stored more fields, and nobody knows whether
 * they are personal (docs/adr/0037).
 */
function known(service: string, of: AnyCollection, standIn: () => AnyStored | null): AnyStored | null {
  try {
    const stored = standIn();
    return stored && { id: stored.id, doc: of.schema.parse(stored.doc) };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const field = error.issues[0]?.path.join('.');
    const where = `In the data of ${service}, the field ${field} of a document in ${of.name}`;
    throw new StartError(
      `${where} has a value that this version does not know. Make the anonymised copy with the version that has stored it.`,
      { cause: error },
    );
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the columns are those of the table.
function* rowsOf(source: DatabaseSync, table: string): Generator<Record<string, any>[]> {
  const some = source.prepare(`SELECT * FROM "${table}" WHERE id > ? ORDER BY id LIMIT ${atOnce}`);
  for (let after = ''; ; ) {
    const rows = some.all(after);
    const end = rows.at(-1);
    if (!end) return;
    yield rows;
    after = end.id as string;
  }
}
