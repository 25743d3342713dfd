import { StartError } from '@kith/base';
import { markMoved } from '@kith/store/sqlite';
import type { DataFolder } from '../../forms/data-folder.ts';
import { storingNames } from '../../services.ts';
import { dataFiles, type MovedCount, type MoveState, writeState } from './state.ts';
import type { Target } from './target.ts';

/**
 * Hands the data over, once both places hold the same: first no embedded platform may open it any more, then the databases
 * are whole. Each step can be repeated, so that a move that dies between two of them is ended by the next try.
 * Throws `StartError` where that has been done, or where the databases are not those that were filled.
 */
export async function handOver(
  { folder, target }: { folder: DataFolder; target: Target },
  state: MoveState & { counts: MovedCount[] },
  progress: (line: string) => void,
): Promise<MovedCount[]> {
  for (const service of storingNames) await target.checkClaimed(service, state.move);
  if (state.isFinished)
    throw new StartError(`The data was moved to ${target.databaseOf('identity')} already.`);
  for (const name of dataFiles) {
    markMoved(folder.file(`${name}.sqlite`));
    progress(`${name}.sqlite: marked as moved`);
  }
  for (const service of storingNames) {
    await target.finish(service);
    progress(`${target.databaseOf(service)}: marked as whole`);
  }
  writeState(folder, { ...state, isFinished: true });
  progress('the data is moved');
  return state.counts;
}
