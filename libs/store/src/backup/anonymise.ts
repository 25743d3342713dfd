import { DatabaseSync } from 'node:sqlite';
import { asDeclared } from '../documents/collection.ts';
import { replyCollection } from '../documents/reply-collection.ts';
import { DocumentsFile } from './documents-file.ts';
import type { MadeUp } from './made-up.ts';
import type { ServiceBackup } from './service-backup.ts';

const atOnce = 1_000;

/**
 * Copies a service's file from a backup, and replaces the data of people in the copy. Leaves out events, because events show
 * what people have done. Counters are added up again, because they may count rows that are left out.
 */
export function anonymise(backup: ServiceBackup, from: string, to: string, made: MadeUp): void {
  using source = new DatabaseSync(from);
  using file = new DocumentsFile(to, backup.declared);
  for (const of of backup.declared.collections) {
    // Leaves out answers. They contain texts of people, and these texts cannot be replaced, because they are sealed with keys
    // that nobody has.
    if (of === replyCollection) continue;
    const standIn = backup.anonymous[of.name];
    if (!standIn)
      throw new Error(`The backup of ${backup.service} does not say how to anonymise ${of.name}.`);
    for (const rows of rowsOf(source, of.name)) {
      file.together(() => {
        for (const { id, shape, doc, changed = null, epoch = 0, newest = 0 } of rows) {
          const other = standIn({ id, doc: asDeclared(of, JSON.parse(doc), shape) }, made);
          if (other) file.put(of, { id: other.id, doc: other.doc, changed, epoch, newest });
        }
      });
    }
  }
  file.sumUp(backup);
  // Other services keep copies of this service's data, and these copies compare versions by epoch first. So the file keeps its
  // epoch: if it began at 0 again, the copies would ignore every later change.
  const epoch = source.prepare("SELECT value FROM facts WHERE name = 'epoch'").get();
  if (epoch) file.noteFact('epoch', JSON.parse(epoch.value as string));
  file.close();
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
