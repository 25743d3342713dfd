import type { Command } from '../command.ts';
import { moveConfig } from '../move/config.ts';

/** Moves an embedded installation's data to the databases of the distributed form (docs/move.md). */
export const moveCommand: Command = {
  name: 'move',
  summary: 'move an embedded installation to the distributed form',
  help: `kith move [--from FOLDER] [--without CONSUMER] [--json]

Copies all data of an embedded installation, which has to be stopped, to the databases of the distributed form, which
have to be empty; compares counts and checksums; docs/move.md says more. Started again it goes on where it stopped.
Once the data is moved no embedded platform starts on the folder any more.

  --from FOLDER       the data folder, default that of KITH_DATA
  --without CONSUMER  leave events behind that wait for a consumer of this name, where no service of this version has it;
                      may be given several times
  --json              print the counts as JSON`,
  reads: moveConfig,
  options: {
    from: { type: 'string' },
    without: { type: 'string', multiple: true },
    json: { type: 'boolean' },
  },
  // Loads services and databases, which no other command needs.
  async run(given, around) {
    const { runMove } = await import('../move/run-move.ts');
    return runMove(given, around);
  },
};
