import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type StackSettings, startStacks } from '../gateway/stacks.ts';
import { writeRequests } from '../load/request-file.ts';
import { closedLoad } from '../load/wrk.ts';
import { pageFor, samplePage } from '../page.ts';
import { makePopulation } from '../population.ts';
import { cpuByName } from '../processes.ts';
import { atMost, figure, type Row, table } from '../row.ts';
import { capacityFor, mostOnOneMachine } from './model.ts';
import { type Stage, simulateClosedLoop } from './simulate.ts';

const counts = [1, 2, 4] as const;

interface Point {
  gateways: number;
  clients: number;
  rps: number;
  p50: number;
  /** The CPU time of each part for one request, in µs. */
  parts: Record<string, number>;
  idle: number;
}

/** Measures the same load on one, two and four gateway processes, and compares the measurements with a simulation. */
export const scalingRow: Row = {
  name: 'scaling',
  title: 'Scaling out',
  isQuick: false,
  async measure({ engines, wrk, folder, isQuick, progress }) {
    const { natsUrl, redisUrl } = engines;
    const population = await makePopulation();
    const page = samplePage();
    const requests = writeRequests(join(folder, 'scaling.requests'), population.requests, ({ person }) => ({
      path: `/${person.projectId}/connections?page=1&limit=20`,
    }));
    const body = pageFor(page)(population.people[0]?.userId ?? '');
    const expected = { length: body.length, front: body.subarray(0, 64).toString() };
    const settings: StackSettings = { natsUrl, redisUrl, population, page, folder, only: ['kith'] };
    const points: Point[] = [];
    for (const gateways of counts) {
      await using stacks = await startStacks({ ...settings, gateways });
      const urls = stacks.all.map(({ url }) => url);
      // Each gateway gets an equal part of the load, as a load balancer would distribute it.
      const load = (seconds: number) =>
        Promise.all(
          urls.map((url) => {
            const connections = Math.ceil(32 / urls.length);
            return closedLoad({ wrk, url, requests, seconds, connections, expected });
          }),
        );
      await load(isQuick ? 1 : 4);
      const before = cpuByName();
      const loaded = await load(isQuick ? 3 : 15);
      const answered = loaded.reduce((sum, one) => sum + one.answered, 0);
      const { parts, idle } = perRequest(before, cpuByName(), answered);
      const rps = loaded.reduce((sum, one) => sum + one.answered / one.seconds, 0);
      const p50 = loaded.reduce((sum, one) => sum + one.p50, 0) / loaded.length;
      points.push({ gateways, clients: 32, rps, p50, parts, idle });
      progress(`${gateways} gateways: ${Math.round(rps)}/s`);
    }
    return describe(points);
  },
};

function describe(points: readonly Point[]) {
  const cores = availableParallelism();
  const rows = points.map((point) => {
    const { rps, p50, gateways, clients } = point;
    const stages = stagesOf(point);
    const simulated = simulateClosedLoop({ stages, cores, clients, requests: 40_000 });
    const model = mostOnOneMachine(
      cores,
      stages.map(({ micros }) => micros),
    );
    return { gateways, rps, p50, simulated, model };
  });
  const [one] = points;
  const costs = {
    gateway: one?.parts.gateway ?? 0,
    service: one?.parts.service ?? 0,
    nats: one?.parts['nats-server'] ?? 0,
    redis: one?.parts['redis-server'] ?? 0,
    database: 0,
  };
  const needed = capacityFor(1_000_000, costs, { natsBytes: 6_000, redisOperations: 1, databaseReads: 0 });
  return {
    json: { points, rows, costs, needed },
    markdown: [
      table(
        ['gateways', 'requests/s', 'of the simulation', 'of the model', 'p50 ms', 'of the simulation'],
        rows.map(({ gateways, rps, p50, simulated, model }) => [
          gateways,
          ...[rps, simulated.rps, model, p50, simulated.p50].map(figure),
        ]),
      ),
      `CPU time per request with one gateway, in µs: ${Object.entries(one?.parts ?? {})
        .map(([name, micros]) => `${name} ${figure(micros)}`)
        .join(', ')}; unused ${figure(one?.idle ?? 0)}. All parts and the load share ${cores} cores.`,
      '[docs/scaling.md](../docs/scaling.md) says what the model predicts from these costs for higher rates.',
    ].join('\n\n'),
    verdicts: rows.map(({ gateways, rps, simulated }) =>
      atMost(
        `scaling: how far the simulation is off with ${gateways} gateway${gateways > 1 ? 's' : ''}`,
        Math.abs(simulated.rps / rps - 1),
        0.25,
      ),
    ),
  };
}

function stagesOf({ parts, gateways }: Point): Stage[] {
  const micros = (name: string) => parts[name] ?? 0;
  const threads = availableParallelism();
  return [
    { name: 'load', processes: gateways, micros: micros('wrk') },
    { name: 'gateway', processes: gateways, micros: micros('gateway') / 2 },
    { name: 'redis', processes: 1, micros: micros('redis-server') },
    // nats-server has as many threads as there are cores.
    { name: 'nats, question', processes: threads, micros: micros('nats-server') / 2 },
    { name: 'service', processes: 1, micros: micros('service') },
    { name: 'nats, reply', processes: threads, micros: micros('nats-server') / 2 },
    { name: 'gateway, answer', processes: gateways, micros: micros('gateway') / 2 },
    { name: 'kernel', processes: threads, micros: micros('others') },
  ];
}

function perRequest(
  before: ReturnType<typeof cpuByName>,
  after: ReturnType<typeof cpuByName>,
  answered: number,
): { parts: Record<string, number>; idle: number } {
  const parts: Record<string, number> = {};
  const named: Record<string, string> = {
    'services/gateway/src/main.ts': 'gateway',
    'bench/src/gateway/echo-nats.ts': 'service',
    'nats-server': 'nats-server',
    'redis-server': 'redis-server',
  };
  for (const [name, micros] of Object.entries(after.processes)) {
    const used = (micros - (before.processes[name] ?? 0)) / answered;
    const part = named[name] ?? 'others';
    parts[part] = (parts[part] ?? 0) + used;
  }
  const idle = (after.idle - before.idle) / answered;
  // wrk has ended, so its process is not in the list any more. So the machine's time minus the times of all listed parts is
  // stored as the time of wrk. This number also contains time of the kernel.
  const all = (after.used - before.used) / answered;
  const known = Object.values(parts).reduce((sum, one) => sum + one, 0);
  parts.wrk = Math.max(all - known, 0);
  return { parts, idle };
}
