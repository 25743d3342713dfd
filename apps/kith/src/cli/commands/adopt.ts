import { adoptConfig } from '../backup/config.ts';
import type { Command } from '../command.ts';

/** Turns a started backup into a separate installation (docs/backup.md). */
export const adoptCommand: Command = {
  name: 'adopt',
  summary: 'turn a started backup into a separate installation',
  help: `kith adopt [--from FOLDER]

A platform that was started on a backup is a copy: it says so and sends nothing outside. This command turns the copy into a
separate installation. Its events then count as newer than all earlier ones. Stop the platform first.

  --from FOLDER  the backup's folder (default: KITH_DATA)`,
  reads: adoptConfig,
  options: { from: { type: 'string' } },
  // Loads services and databases, which most commands do not need.
  async run(given, around) {
    const { runAdopt } = await import('../backup/run-adopt.ts');
    return runAdopt(given, around);
  },
};
