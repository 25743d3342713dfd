import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface Upstream {
  /** The port where the gateway receives requests. */
  port: number;
  /** The address at which the gateway reports whether it is ready. */
  readyUrl: string;
}

/** A simple load balancer in front of the gateways. */
export interface Balancer extends AsyncDisposable {
  url: string;
  /**
   * From now on, asks only every `ms` milliseconds which gateways are ready, and relies on these answers until it asks again.
   * So if a gateway begins to refuse connections, the requests to this gateway fail until the balancer asks again.
   */
  lagBy(ms: number): void;
  /**
   * From now on, asks every second which gateways are ready. If a gateway does not accept a connection, tries another gateway.
   */
  beQuick(): void;
  /**
   * From now on, withholds a share of the answers to requests that change something. The gateways have processed these
   * requests, but the clients get no answer.
   */
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
