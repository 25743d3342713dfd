import type { Engine } from '@kith/engines';
import { storingNames } from '@kith/platform';
import type { Row, Stage } from '../row.ts';
import type { Nodes } from '../world/nodes.ts';

const engines: readonly Engine[] = ['mongo', 'nats', 'redis'];
const titles = { mongo: 'the database', nats: 'the broker', redis: 'Redis' };
/** The longest allowed silence when an engine restarts, in ms. */
const restartMs = 6_000;

const killed = async ({ world }: Stage<Nodes>, ...names: readonly Engine[]) => {
  await Promise.all(
    names.map(async (name) => {
      await world.engines[name].kill();
      await world.engines[name].start();
    }),
  );
};

const pairOf = (time: number) => engines.filter((_, index) => index !== time % 3);

const frozen = async ({ world, rest }: Stage<Nodes>, ...names: readonly Engine[]) => {
  await Promise.all(names.map((name) => world.engines[name].pause()));
  await rest(8_000);
  await Promise.all(names.map((name) => world.engines[name].unpause()));
};

export const engineRows: readonly Row<Nodes>[] = [
  ...engines.map(
    (name): Row<Nodes> => ({
      name: `kill-${name}`,
      title: `kill -9 and restart of ${titles[name]}`,
      times: 4,
      quick: name === 'redis' ? 0 : 1,
      silenceMs: restartMs,
      async fault(stage) {
        await killed(stage, name);
        await stage.back();
      },
    }),
  ),
  {
    name: 'kill-engine-pairs',
    title: 'kill -9 and restart of two engines at once, every pair',
    times: 3,
    quick: 0,
    async fault(stage, time) {
      await killed(stage, ...pairOf(time));
      await stage.back();
    },
  },
  {
    name: 'kill-engine-and-service',
    title: 'kill -9 of an engine and of a replica at once',
    times: 12,
    quick: 0,
    async fault(stage, time) {
      const engine = engines[time % 3] as Engine;
      const service = storingNames[Math.floor(time / 3) % storingNames.length];
      const { replicas } = stage.world.nodes[time % 2]!;
      await Promise.all([killed(stage, engine), replicas[service as 'identity'].kill()]);
      await stage.back();
    },
  },
  ...engines.map(
    (name): Row<Nodes> => ({
      name: `stop-${name}`,
      title: `orderly restart of ${titles[name]}`,
      times: 2,
      quick: 0,
      silenceMs: restartMs,
      async fault(stage) {
        await stage.world.engines[name].stop();
        await stage.world.engines[name].start();
        await stage.back();
      },
    }),
  ),
  ...engines.map(
    (name): Row<Nodes> => ({
      name: `freeze-${name}`,
      title: `${titles[name]} frozen for 8 s`,
      times: 1,
      quick: 0,
      async fault(stage) {
        await frozen(stage, name);
        await stage.back();
      },
    }),
  ),
  {
    name: 'freeze-engine-pairs',
    title: 'two engines frozen at once for 8 s, every pair',
    times: 3,
    quick: 0,
    async fault(stage, time) {
      await frozen(stage, ...pairOf(time));
      await stage.back();
    },
  },
];
