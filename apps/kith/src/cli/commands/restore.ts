import { restoreConfig } from '../backup/config.ts';
import type { Command } from '../command.ts';

/** Restores a backup (docs/backup.md). */
export const restoreCommand: Command = {
  name: 'restore',
  summary: 'restore a backup',
  help: `kith restore FOLDER [--erased FILE] [--json]

Restores a folder that \`kith backup\` has written; the folder stays unchanged. With MONGODB_URL it restores into empty
databases; streams and rate limits start empty. Otherwise it restores into the data folder KITH_DATA, which must be empty.
If it was interrupted while it filled databases, run it again to resume. See docs/backup.md.

  --erased FILE  file of erasures (ERASURES_FILE; embedded: erasures.jsonl in the data folder); the users in it are
                 erased again
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
