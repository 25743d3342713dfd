import type { Command } from '../command.ts';
import { folderConfig } from '../data-folder.ts';

/** Turns a started backup into a separate installation (docs/backup.md). */
export const adoptCommand: Command = {
  name: 'adopt',
  summary: 'turn a started backup into a separate installation',
  text: `A platform that was started on a backup is a copy. It says so when it starts, and it sends nothing outside. This command
turns the copy into a separate installation, whose new events count as newer than all events from before. Stop the platform
first.`,
  reads: folderConfig,
  options: { from: { value: 'FOLDER', text: 'the backup’s folder (default: KITH_DATA)' } },
  // The command's code is imported only when the command runs, because that code loads services and databases.
  async run(given, around) {
    const { runAdopt } = await import('../backup/run-adopt.ts');
    return runAdopt(given, around);
  },
};
