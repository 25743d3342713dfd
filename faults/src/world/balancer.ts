import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

export interface Upstream {
  /** Where it takes requests. */
  port: number;
  /** Its page that says whether it is ready. */
  readyUrl: string;
}

/** What stands before the gateways, as small as such a thing can be. */
export interface Balancer extends AsyncDisposable {
  url: string;
  /** Asks every `ms` which gateways are ready, and believes it until then: whoever refuses meanwhile has lost a request. */
  lagBy(ms: number): void;
  /** Asks every second, and takes another gateway where one does not accept a connection. */
  beQuick(): void;
  /** From now on keeps this share of the answers to what changes something from the client, once they are there. */
  keepAnswers(share: number, random?: () => number): void;
}

/** What the balancer's thread is told. The seed decides which answers are kept. */
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
