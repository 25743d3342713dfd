import { backupConfig } from '../backup/config.ts';
import type { Command } from '../command.ts';

/** Writes a backup of a platform that runs (docs/backup.md). */
export const backupCommand: Command = {
  name: 'backup',
  summary: 'write a backup of all data, while the platform runs',
  help: `kith backup FOLDER [--anonymise] [--json]

Writes all data to a new folder while the platform keeps running. Everything that was answered before the command began is
in it. \`KITH_DATA=FOLDER npm start\` starts the backup; \`kith restore\` restores it. See docs/backup.md.

With MONGODB_URL and NATS_URL it backs up the distributed form. Otherwise it backs up the data folder of an embedded
platform, running or not.

  --anonymise  replace all personal data: made-up names and ids; no addresses, passwords, sessions, keys, events or texts
  --json       print the counts as JSON`,
  reads: backupConfig,
  options: { anonymise: { type: 'boolean' }, json: { type: 'boolean' } },
  words: ['folder'],
  // Loads services and databases, which most commands do not need.
  async run(given, around) {
    const { runBackup } = await import('../backup/run-backup.ts');
    return runBackup(given, around);
  },
};
