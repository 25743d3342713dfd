import type { Command } from '../command.ts';
import { moveConfig } from '../move/config.ts';
import { withoutConsumer } from '../move/without-consumer.ts';

/** Moves an embedded installation's data to the databases of the distributed form (docs/move.md). */
export const moveCommand: Command = {
  name: 'move',
  summary: 'move an embedded installation to the distributed form',
  text: `Copies all data of a stopped embedded installation to the empty databases of the distributed form, and compares counts
and checksums. If the move is interrupted, run the command again to resume. After the move, an embedded platform no longer
starts on this folder. See docs/move.md.`,
  reads: moveConfig,
  options: {
    from: { value: 'FOLDER', text: 'the data folder (default: KITH_DATA)' },
    without: withoutConsumer,
  },
  isLong: true,
  // The command's code is imported only when the command runs, because that code loads services and databases.
  async run(given, around) {
    const { runMove } = await import('../move/run-move.ts');
    return runMove(given, around);
  },
};
