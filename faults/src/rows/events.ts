import { randomUUID } from 'node:crypto';
import { userUpdated } from '@kith/contracts';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import type { Row } from '../row.ts';
import type { Nodes } from '../world/nodes.ts';

export const eventRows: readonly Row<Nodes>[] = [
  {
    name: 'unpublishable-events',
    title: '100 events that cannot be published, ahead of all others',
    times: 1,
    quick: 0,
    async fault({ world, crowd, rest }) {
      const client = await MongoClient.connect(world.engines.mongodbUrl);
      const events = client.db(`${world.prefix}_identity`).collection<{ _id: string }>('events');
      const at = new Date(Date.now() - 3_600_000);
      // This type has a space, so it cannot be part of a subject.
      const rows = Array.from({ length: 100 }, () => eventOf(crowd.projectId, 'no subject')).map((event) => ({
        _id: `faults|${event.id}`,
        event: JSON.stringify(event),
        at,
        unpublished: true,
      }));
      await events.insertMany(rows);
      await rest(15_000);
      await events.deleteMany({ _id: { $in: rows.map(({ _id }) => _id) } });
      await client.close();
    },
  },
  {
    name: 'poison-events',
    title: '1,000 events that no consumer can process',
    times: 1,
    quick: 1,
    async fault(stage) {
      const connection = await connect({ servers: stage.world.engines.natsUrl.replace('nats://', '') });
      const stream = jetstream(connection);
      const { projectId } = stage.crowd;
      const subject = `${stage.world.prefix}.event.${projectId}.${userUpdated.type}`;
      const poison = Array.from({ length: 1_000 }, () =>
        JSON.stringify(eventOf(projectId, userUpdated.type)),
      );
      await Promise.all(poison.map((body) => stream.publish(subject, body)));
      await connection.close();
      await stage.rest(15_000);
    },
  },
];

/** Makes an event whose aggregate does not exist, and whose data does not fit its type. */
function eventOf(projectId: string, type: string) {
  const aggregate = { type: 'faults', id: randomUUID(), seq: 1 };
  const occurredAt = new Date().toISOString();
  return { id: randomUUID(), type, version: 1, projectId, occurredAt, actorId: null, aggregate, data: {} };
}
