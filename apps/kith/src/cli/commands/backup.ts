import { backupConfig } from '../backup/config.ts';
import type { Command } from '../command.ts';

/** Writes a backup of a running platform (docs/backup.md). */
export const backupCommand: Command = {
  name: 'backup',
  summary: 'write a backup of all data, while the platform runs',
  text: `Writes all data to a new folder while the platform keeps running. The backup contains every change that was
answered before the command began. \`KITH_DATA=FOLDER kith start\` runs Kith on the backup; \`kith restore\` restores it. See
docs/backup.md.

With MONGODB_URL and NATS_URL it backs up the distributed form. Without MONGODB_URL it backs up the data folder of an
embedded platform, whether or not the platform is running.`,
  reads: backupConfig,
  options: {
    'passphrase-file': {
      value: 'FILE',
      text: 'seal the backup with the passphrase in the first line of this file; the same as KITH_BACKUP_PASSPHRASE_FILE',
    },
    anonymise: {
      text: 'replace all personal data: made-up names and ids; no addresses, passwords, sessions, keys, events or texts',
    },
  },
  words: [{ value: 'FOLDER', what: 'folder' }],
  isLong: true,
  // The command's code is imported only when the command runs, because that code loads services and databases.
  async run(given, around) {
    const { runBackup } = await import('../backup/run-backup.ts');
    return runBackup(given, around);
  },
};
