import { seeded } from '../random.ts';

/** A part that a request passes through. It has `processes` with one thread each. A process is busy for `micros` with a request. */
export interface Stage {
  name: string;
  processes: number;
  micros: number;
}

export interface Simulated {
  rps: number;
  p50: number;
  p99: number;
}

interface Arrival {
  at: number;
  client: number;
  stage: number;
}

/**
 * Simulates a number of `clients`. Each client sends a request, waits for the answer, and then sends the next request (a closed
 * loop). The processes of all stages share `cores`. The request with the longest wait comes first. Each process works on one
 * request at a time. The time of the work is distributed exponentially about its mean. Returns the rate in requests per second,
 * and the times of the answers in ms.
 */
export function simulateClosedLoop(options: {
  stages: readonly Stage[];
  cores: number;
  clients: number;
  requests: number;
  seed?: number;
}): Simulated {
  const { stages, cores, clients, requests } = options;
  const random = seeded(options.seed ?? 3);
  const takes = (mean: number) => -Math.log(1 - random()) * mean;
  /** Requests that wait until a core and a process of their stage are free. The one that has waited longest comes first. */
  const waiting: Arrival[] = Array.from({ length: clients }, (_, client) => ({ at: 0, client, stage: 0 }));
  const busy = stages.map(() => 0);
  const running: { until: number; work: Arrival }[] = [];
  const asked = new Array<number>(clients).fill(0);
  const times: number[] = [];
  let now = 0;
  while (times.length < requests) {
    for (let at = 0; at < waiting.length && running.length < cores; ) {
      const work = waiting[at] as Arrival;
      const stage = stages[work.stage] as Stage;
      if ((busy[work.stage] as number) >= stage.processes) {
        at += 1;
        continue;
      }
      waiting.splice(at, 1);
      busy[work.stage] = (busy[work.stage] as number) + 1;
      running.push({ until: now + takes(stage.micros), work });
    }
    running.sort((one, other) => one.until - other.until);
    const done = running.shift();
    if (!done) throw new Error('No process works in the simulation.');
    now = done.until;
    const { client, stage } = done.work;
    busy[stage] = (busy[stage] as number) - 1;
    const next = stage + 1;
    if (next === stages.length) {
      times.push(now - (asked[client] as number));
      asked[client] = now;
    }
    waiting.push({ at: now, client, stage: next % stages.length });
  }
  times.sort((a, b) => a - b);
  const percentile = (share: number) => (times[Math.floor(times.length * share)] as number) / 1_000;
  return { rps: (requests / now) * 1e6, p50: percentile(0.5), p99: percentile(0.99) };
}
