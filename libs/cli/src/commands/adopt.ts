import { adoptConfig } from '../backup/config.ts';
import type { Command } from '../command.ts';

/** Makes an installation of a backup that was started on (docs/backup.md). */
export const adoptCommand: Command = {
  name: 'adopt',
  summary: 'make the copy that a backup is an installation of its own',
  help: `kith adopt [--from FOLDER]

A platform that is started on a backup is a copy: it says so, and nothing goes out of it. From here on it is an installation of
its own, and what it tells counts as newer than all that was told before. It has to be stopped.

  --from FOLDER  the backup's folder, default that of KITH_DATA`,
  reads: adoptConfig,
  options: { from: { type: 'string' } },
  // Loads services and databases, which most commands do not need.
  async run(given, around) {
    const { runAdopt } = await import('../backup/run-adopt.ts');
    return runAdopt(given, around);
  },
};
