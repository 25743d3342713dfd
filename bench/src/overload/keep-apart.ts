import type { BenchEngines } from '../engines.ts';

/** Cores for the gateway and the load in front, and for what is behind them; undefined if the engines cannot be pinned. */
export interface Apart extends AsyncDisposable {
  front: string | undefined;
  behind: string | undefined;
  /** What a reader of the figures has to know about the cores. */
  told: string;
}

/**
 * Pins the engines to one core, and names another for the gateway and the load. On shared cores, a flood of requests takes CPU
 * time from the processes that answer it. On separate cores, as on separate machines, one can measure how much of the flood is
 * let through.
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
