import { StartError } from '@kith/base';
import { markMoved } from '@kith/store/sqlite';
import type { DataFolder } from '../../forms/data-folder.ts';
import { storingNames } from '../../services.ts';
import { dataFiles, type MovedCount, type MoveState, writeState } from './state.ts';
import type { Target } from './target.ts';

/**
 * Hands the data over to the distributed form. Call this after a comparison has found the same data in both places. First
 * forbids embedded platforms to open the folder, then marks the databases as complete. Each step can be repeated. So if a move
 * died between two steps, the next try completes it. Throws `StartError` if the data was handed over already, or if this move
 * has not filled these databases.
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
    progress(`${target.databaseOf(service)}: marked as complete`);
  }
  writeState(folder, { ...state, isFinished: true });
  progress('the data is moved');
  return state.counts;
}
