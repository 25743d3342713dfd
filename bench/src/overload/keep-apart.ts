import type { BenchEngines } from '../engines.ts';

/** Cores for what stands in front and for what is behind it; undefined where the engines are somebody else's. */
export interface Apart extends AsyncDisposable {
  front: string | undefined;
  behind: string | undefined;
  /** What a reader of the figures has to know of it. */
  told: string;
}

/**
 * Keeps the engines to one core, and names another for the gateway and the load. On one machine a flood takes the time of what
 * answers it; apart, as on machines of their own, what is measured is how much of it is let through.
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
