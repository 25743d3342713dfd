import { type Bus, InFlight } from '@kith/bus';
import { blocksPage } from '@kith/contracts';
import { ask } from '@kith/service';
import { residentBytes } from '../processes.ts';
import { percentile } from '../summary.ts';

const everyMs = 20;

/** The figures of a watched process. */
export interface Watched {
  /** Its resident memory in MiB, measured about twice a second. */
  memory: number[];
  /** The times until trivial requests were answered, in ms. Each time begins when its request was due. */
  requests: { p50: number; p99: number; max: number; failed: number };
}

/**
 * Runs `work`, and meanwhile watches a process that runs the connections service. Measures the process's memory and the time
 * that a trivial request takes. The request is sent every 20 ms, even if the previous request is not answered yet.
 */
export async function watch(bus: Bus, pid: number, work: () => Promise<void>): Promise<Watched> {
  const memory: number[] = [];
  const times: number[] = [];
  const asked = new InFlight();
  let failed = 0;
  let due = performance.now();
  const request = async (at: number) => {
    try {
      const context = { requestId: 'bench', deadline: Date.now() + 5_000 };
      await ask(bus, blocksPage, { after: null }, context);
      times.push(performance.now() - at);
    } catch {
      failed++;
    }
  };
  const asking = setInterval(() => {
    for (; due <= performance.now(); due += everyMs) asked.track(request(due));
  }, everyMs);
  const sampling = setInterval(() => memory.push(residentBytes(pid) / 2 ** 20), 500);
  try {
    await work();
  } finally {
    clearInterval(asking);
    clearInterval(sampling);
  }
  await asked.idle();
  times.sort((a, b) => a - b);
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  return { memory, requests: { p50, p99, max: times.at(-1) ?? 0, failed } };
}
