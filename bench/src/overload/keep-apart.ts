import type { BenchEngines } from '../engines.ts';

/**
 * Separate cores: `front` for the gateway and the load, `behind` for all other processes. `undefined` if the engines cannot be
 * pinned.
 */
export interface Apart extends AsyncDisposable {
  front: string | undefined;
  behind: string | undefined;
  /** A text about the cores, for readers of the figures. */
  told: string;
}

/**
 * Pins the engines to one core, and chooses another core for the gateway and the load. On shared cores, a flood of requests
 * takes CPU time from the processes that answer it. Separate cores are like separate machines. With separate cores, the figures
 * show how much of the flood the gateway lets through.
 */
export async function keepApart(engines: BenchEngines): Promise<Apart> {
  if (!engines.canPin) {
    return { front: undefined, behind: undefined, told: '', [Symbol.asyncDispose]: async () => {} };
  }
  const all = ['mongo', 'nats', 'redis'] as const;
  await engines.pin(all, '1');
  return {
    front: '0',
    behind: '1',
    told: 'The load and the gateway run on one core, the services and the engines on another.',
    [Symbol.asyncDispose]: () => engines.pin(all, undefined),
  };
}
