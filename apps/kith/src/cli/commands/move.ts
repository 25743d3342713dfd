import type { Command } from '../command.ts';
import { moveConfig } from '../move/config.ts';

/** Moves an embedded installation's data to the databases of the distributed form (docs/move.md). */
export const moveCommand: Command = {
  name: 'move',
  summary: 'move an embedded installation to the distributed form',
  help: `kith move [--from FOLDER] [--without CONSUMER] [--json]

Copies all data of a stopped embedded installation to the empty databases of the distributed form, and compares counts
and checksums. If it is interrupted, run it again to resume. Afterwards no embedded platform starts on the folder. See
docs/move.md.

  --from FOLDER       the data folder (default: KITH_DATA)
  --without CONSUMER  skip events that wait for this consumer, if no service of this version has it; repeatable
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
