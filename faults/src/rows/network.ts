import type { Row } from '../row.ts';
import type { Node, Nodes } from '../world/nodes.ts';
import type { Deaf, Way } from '../world/way.ts';

const titles = { mongo: 'the database', nats: 'the broker', redis: 'Redis' };
const names = ['mongo', 'nats', 'redis'] as const;

const lossOf = (name: keyof Node['ways'], who: Deaf): Row<Nodes> => ({
  name: `loss-${name}-${who}`,
  title:
    who === 'server'
      ? `all packets of a node to ${titles[name]} lost for 8 s`
      : `all packets of ${titles[name]} to a node lost for 8 s`,
  times: 1,
  quick: name === 'nats' && who === 'client' ? 1 : 0,
  async fault({ world, rest }, time) {
    const way: Way = world.nodes[time % 2]!.ways[name];
    way.deafen(who);
    await rest(8_000);
    way.mend();
    await rest(6_000);
  },
});

const blipMs = [100, 200, 500, 1_000, 2_000, 5_000];

export const networkRows: readonly Row<Nodes>[] = [
  ...names.flatMap((name) => [lossOf(name, 'server'), lossOf(name, 'client')]),
  {
    name: 'broker-blips',
    title: 'the broker out of reach for 0.1 to 5 s',
    times: blipMs.length,
    quick: 2,
    silenceMs: 7_000,
    async fault({ world, rest }, time) {
      for (const { ways } of world.nodes) ways.nats.cut();
      await rest(blipMs[time % blipMs.length] as number);
      for (const { ways } of world.nodes) ways.nats.mend();
      await rest(3_000);
    },
  },
  {
    name: 'mute-mongo',
    title: 'the database accepts connections and requests of both nodes but does not answer for 8 s',
    times: 1,
    quick: 0,
    async fault({ world, rest }) {
      for (const { ways } of world.nodes) ways.mongo.deafen('client');
      await rest(8_000);
      for (const { ways } of world.nodes) ways.mongo.mend();
      await rest(6_000);
    },
  },
  {
    name: 'lost-answers',
    title:
      'a fifth of the answers to changes lost after the commit, for 15 s; clients repeat the requests that are safe to repeat',
    times: 1,
    quick: 1,
    async fault({ world, rest, random }) {
      world.balancer.keepAnswers(0.2, random);
      await rest(15_000);
      world.balancer.keepAnswers(0);
      await rest(1_000);
    },
  },
];
