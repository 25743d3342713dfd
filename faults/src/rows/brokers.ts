import { streamNames } from '@kith/bus';
import { waitFor } from '@kith/testing';
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
      const { streams } = await jetstreamManager(connection);
      // During an election, the stream has no leader.
      const found = async () => {
        const { cluster } = await streams.info(streamNames(world.prefix).events);
        return brokers.names.find((name) => name === cluster?.leader);
      };
      const leader = await waitFor(found, { what: 'a leader of the stream' });
      await connection.close();
      await brokers.kill(leader);
      await rest(3_000);
      await brokers.start(leader);
      await rest(4_000);
    },
  },
];
