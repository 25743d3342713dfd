import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface Upstream {
  /** Where it takes requests. */
  port: number;
  /** Its page that says whether it is ready. */
  readyUrl: string;
}

/** A minimal load balancer in front of the gateways. */
export interface Balancer extends AsyncDisposable {
  url: string;
  /**
   * Asks only every `ms` which gateways are ready, and relies on the answers in between: a request is lost if it is passed to
   * a gateway that has begun to refuse connections since.
   */
  lagBy(ms: number): void;
  /** Asks every second, and tries another gateway if one does not accept a connection. */
  beQuick(): void;
  /** From now on withholds this share of the answers to requests that change something, after the gateway has answered. */
  keepAnswers(share: number, random?: () => number): void;
}

/** An order to the balancer's thread. The seed decides which answers are withheld. */
export type Order = { be: 'quick' } | { lagByMs: number } | { keepShare: number; seed: number };

/** Starts a balancer on a thread of its own. */
export async function startBalancer(upstreams: readonly Upstream[]): Promise<Balancer> {
  const worker = new Worker(new URL('./balancer-worker.ts', import.meta.url), { workerData: upstreams });
  const [url] = (await once(worker, 'message')) as [string];
  const order = (told: Order) => worker.postMessage(told);
  return {
    url,
    lagBy: (lagByMs) => order({ lagByMs }),
    beQuick: () => order({ be: 'quick' }),
    keepAnswers: (keepShare, random = Math.random) =>
      order({ keepShare, seed: Math.floor(random() * 2 ** 31) }),
    async [Symbol.asyncDispose]() {
      await worker.terminate();
    },
  };
}
