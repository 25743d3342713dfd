import { streamNames } from '@kith/bus';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Row } from '../row.ts';
import type { Nodes } from '../world/nodes.ts';

/** Rows that run on three brokers. The brokers keep three copies of every stream. */
export const brokerRows: readonly Row<Nodes>[] = [
  {
    name: 'kill-leader',
    title: 'kill -9 of the leader of three brokers, its restart 3 s later',
    times: 5,
    quick: 0,
    silenceMs: 6_000,
    async fault({ world, rest }) {
      const { brokers } = world;
      if (!brokers) throw new Error('There is only one broker.');
      const servers = brokers.urls.map((url) => url.replace('nats://', ''));
      const connection = await connect({ servers });
      const { cluster } = await (await jetstreamManager(connection)).streams.info(
        streamNames(world.prefix).events,
      );
      await connection.close();
      const leader = brokers.names.find((name) => name === cluster?.leader);
      if (!leader)
        throw new Error(`The leader of the stream, ${cluster?.leader}, is none of the three brokers.`);
      await brokers.kill(leader);
      await rest(3_000);
      await brokers.start(leader);
      await rest(4_000);
    },
  },
];
