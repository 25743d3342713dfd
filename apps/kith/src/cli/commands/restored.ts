import type { Command } from '../command.ts';
import { restoredConfig } from '../restored/config.ts';

/** The services that store data. `services.ts` has the same list, but importing that file would load the services. */
const storing = ['identity', 'connections', 'collections', 'notifications', 'storage'];

/** Notes that a service's database was restored from a backup (docs/adr/0028). */
export const restoredCommand: Command = {
  name: 'restored',
  summary: 'declare that a service’s database was restored from a backup',
  text: `SERVICE is one of ${storing.join(', ')}. Run the command for each restored database,
after the restore and before you start the service. When the service starts, it receives all events since the
backup again. Users who were deleted since the backup are deleted again. The service's new events count as newer than all
its events from before the restore.

With MONGODB_URL the database belongs to the distributed form. Without MONGODB_URL it is a file of an embedded installation; in
this case, stop the platform first.`,
  reads: restoredConfig,
  options: { from: { value: 'FOLDER', text: 'the data folder (default: KITH_DATA)' } },
  words: [{ value: 'SERVICE', what: 'restored service', choices: storing }],
  // The command's code is imported only when the command runs, because that code loads services and databases.
  async run(given, around) {
    const { runRestored } = await import('../restored/run-restored.ts');
    return runRestored(given, around);
  },
};
