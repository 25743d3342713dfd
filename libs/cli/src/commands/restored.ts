import type { Command } from '../command.ts';
import { restoredConfig } from '../restored/config.ts';

/** Notes that a service's database was restored from a backup (docs/adr/0028). */
export const restoredCommand: Command = {
  name: 'restored',
  summary: 'say that a service’s database was restored from a backup',
  help: `kith restored SERVICE [--from FOLDER]

SERVICE is one of identity, connections, collections, notifications. To be given for each database that was restored, after
that and before the service is started. Once started, the service takes in again what it had taken in since the backup,
users who were deleted since are deleted again, and what it tells counts as newer than all it has told before.

In the distributed form the database is that of MONGODB_URL. Without it, it is a file of an embedded installation, which has
to be stopped.

  --from FOLDER  the data folder, default that of KITH_DATA`,
  reads: restoredConfig,
  options: { from: { type: 'string' } },
  words: ['service'],
  // Loads services and databases, which most commands do not need.
  async run(given, around) {
    const { runRestored } = await import('../restored/run-restored.ts');
    return runRestored(given, around);
  },
};
