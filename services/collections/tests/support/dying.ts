import { runUntilDeath } from '@kith/testing';
import type { DyingWork } from './dying-child.ts';

/** Lets a process of its own do something until it is done or dies. */
export function runDying(work: DyingWork): Promise<{ killed: boolean; acknowledged: boolean }> {
  return runUntilDeath(new URL('./dying-child.ts', import.meta.url), work);
}
