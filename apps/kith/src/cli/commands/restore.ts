import { restoreConfig } from '../backup/config.ts';
import type { Command } from '../command.ts';
import { withoutConsumer } from '../move/without-consumer.ts';

/** Restores a backup (docs/backup.md). */
export const restoreCommand: Command = {
  name: 'restore',
  summary: 'restore a backup',
  text: `Restores a folder that \`kith backup\` has written; the folder stays unchanged. With MONGODB_URL it restores into empty
databases, and needs KITH_SECRET; streams and rate limits start empty. Without MONGODB_URL it restores into the data folder
KITH_DATA, which must be empty. If the restore was interrupted while it filled databases, run the command again to resume. See
docs/backup.md.`,
  reads: restoreConfig,
  options: {
    'passphrase-file': {
      value: 'FILE',
      text: 'a file whose first line is the passphrase of a sealed backup; the same as KITH_BACKUP_PASSPHRASE_FILE',
    },
    erased: {
      value: 'FILE',
      text: 'list of erasures (ERASURES_FILE; embedded: erasures.jsonl in the data folder); all users and projects in it are erased again',
    },
    without: withoutConsumer,
  },
  words: [{ value: 'FOLDER', what: 'folder' }],
  isLong: true,
  // The command's code is imported only when the command runs, because that code loads services and databases.
  async run(given, around) {
    const { runRestore } = await import('../backup/run-restore.ts');
    return runRestore(given, around);
  },
};
