import type { Row, Stage } from '../row.ts';
import type { Nodes } from '../world/nodes.ts';
import { processNames } from '../world/nodes.ts';
import type { Replica } from '../world/replica.ts';

/**
 * The longest allowed silence when one of two replicas dies, in ms. Only requests that the dead replica was handling may be
 * lost.
 */
const replicaMs = 2_000;

const of = ({ world }: Stage<Nodes>, name: string, time: number): Replica =>
  world.replicas.filter((one) => one.name === name)[time % 2] as Replica;

const pairs = processNames.flatMap((one, at) =>
  processNames.slice(at + 1).map((other) => [one, other] as const),
);

/**
 * One replica of each of two processes, such as connections and the gateway. For each `time`, another pair of processes is
 * chosen.
 */
function pairOf(stage: Stage<Nodes>, time: number): Replica[] {
  return (pairs[time % pairs.length] ?? []).map((name) => of(stage, name, time));
}

async function frozen(stage: Stage<Nodes>, ms: number, ...replicas: readonly Replica[]): Promise<void> {
  for (const one of replicas) one.signal('SIGSTOP');
  await stage.rest(ms);
  for (const one of replicas) one.signal('SIGCONT');
  await stage.back();
}

export const processRows: readonly Row<Nodes>[] = [
  ...processNames.map(
    (name): Row<Nodes> => ({
      name: `kill-${name}`,
      title: `kill -9 of a replica of ${name}`,
      times: 4,
      quick: ['connections', 'notifications'].includes(name) ? 1 : 0,
      silenceMs: replicaMs,
      async fault(stage, time) {
        await of(stage, name, time).kill();
        await stage.back();
      },
    }),
  ),
  {
    name: 'kill-pairs',
    title: 'kill -9 of two processes at once, every pair of services',
    times: pairs.length,
    quick: 0,
    async fault(stage, time) {
      await Promise.all(pairOf(stage, time).map((one) => one.kill()));
      await stage.back();
    },
  },
  {
    name: 'kill-both',
    title: 'kill -9 of both replicas of a service',
    times: processNames.length,
    quick: 0,
    async fault(stage, time) {
      const name = processNames[time % processNames.length] as string;
      await Promise.all([of(stage, name, 0).kill(), of(stage, name, 1).kill()]);
      await stage.back();
    },
  },
  {
    name: 'kill-node',
    title: 'kill -9 of all processes of a node',
    times: 2,
    quick: 1,
    async fault(stage, time) {
      await Promise.all(Object.values(stage.world.nodes[time % 2]!.replicas).map((one) => one.kill()));
      await stage.back();
    },
  },
  ...processNames.map(
    (name): Row<Nodes> => ({
      name: `stop-${name}`,
      title: `SIGSTOP of a replica of ${name} for 10 s`,
      times: 1,
      quick: name === 'connections' ? 1 : 0,
      async fault(stage, time) {
        await frozen(stage, 10_000, of(stage, name, time));
      },
    }),
  ),
  {
    name: 'stop-pairs',
    title: 'SIGSTOP of two processes at once for 6 s, every pair of services',
    times: pairs.length,
    quick: 0,
    async fault(stage, time) {
      await frozen(stage, 6_000, ...pairOf(stage, time));
    },
  },
  {
    name: 'rolling-restart',
    title: 'SIGTERM of one process after the other, behind a balancer that lags by 5 s',
    times: 1,
    quick: 1,
    silenceMs: replicaMs,
    servesAll: true,
    async fault({ world, rest }) {
      world.balancer.lagBy(5_000);
      await rest(5_500);
      for (const one of world.replicas) {
        await one.restart();
        // Waits, as an orchestrator does, until the replica is ready and the balancer has noticed this. Then the next replica
        // is restarted.
        while (!(await one.isReady())) await rest(100);
        if (one.name === 'gateway') await rest(5_500);
      }
      world.balancer.beQuick();
    },
  },
];
