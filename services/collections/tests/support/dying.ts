import { runUntilDeath } from '@kith/testing';
import type { DyingWork } from './dying-child.ts';

/** Runs the work in a process of its own until the work is done or the process dies. */
export function runDying(work: DyingWork): Promise<{ killed: boolean; acknowledged: boolean }> {
  return runUntilDeath(new URL('./dying-child.ts', import.meta.url), work);
}
