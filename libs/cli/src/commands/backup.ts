import { backupConfig } from '../backup/config.ts';
import type { Command } from '../command.ts';

/** Writes a backup of a platform that runs (docs/backup.md). */
export const backupCommand: Command = {
  name: 'backup',
  summary: 'write a backup of all data, while the platform runs',
  help: `kith backup FOLDER [--anonymise] [--json]

Writes all data to a new folder: what had been answered before the command was begun is in it. The platform goes on meanwhile.
\`KITH_DATA=FOLDER npm start\` starts on the backup; \`kith restore\` puts it back. docs/backup.md says more.

With MONGODB_URL and NATS_URL it backs up the distributed form, else the data folder of an embedded platform, which may run
or not.

  --anonymise  with made-up people: no names, addresses, passwords, sessions, keys, events or texts of anybody, and other ids
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
