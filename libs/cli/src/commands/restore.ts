import { restoreConfig } from '../backup/config.ts';
import type { Command } from '../command.ts';

/** Puts a backup back (docs/backup.md). */
export const restoreCommand: Command = {
  name: 'restore',
  summary: 'put a backup back',
  help: `kith restore FOLDER [--erased FILE] [--json]

Puts back what \`kith backup\` has written to a folder, which stays as it is. With MONGODB_URL into databases, which have to be
empty, with streams and limits that begin anew; without it into the data folder KITH_DATA, which has to be empty. Of databases
that were filled in part it goes on where it stopped. docs/backup.md says more.

  --erased FILE  the list of erasures (ERASURES_FILE; embedded erasures.jsonl in the data folder): those who are in it are
                 erased once more
  --json         print the counts as JSON`,
  reads: restoreConfig,
  options: { erased: { type: 'string' }, json: { type: 'boolean' } },
  words: ['folder'],
  // Loads services and databases, which most commands do not need.
  async run(given, around) {
    const { runRestore } = await import('../backup/run-restore.ts');
    return runRestore(given, around);
  },
};
