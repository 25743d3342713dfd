import { setImmediate as nextTurn } from 'node:timers/promises';
import { DeadlinePassed } from './errors.ts';

/**
 * Lets other work of the process run between two reads, because the embedded store's calls block the event loop. If `deadline`
 * (Unix ms) has passed, throws `DeadlinePassed` instead.
 */
export async function nextTurnBefore(deadline: number): Promise<void> {
  if (Date.now() >= deadline) throw new DeadlinePassed();
  await nextTurn();
}
