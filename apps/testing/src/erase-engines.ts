import { streamNames } from '@kith/bus';
import { serversOf } from '@kith/bus/nats';
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
} from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import type { Engines } from './engines.ts';

/** Removes everything under a prefix from shared engines. */
export async function eraseEngines(
  engines: Pick<Engines, 'mongodbUrl' | 'natsUrl'>,
  prefix: string,
): Promise<void> {
  await using client = new MongoClient(engines.mongodbUrl);
  const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
  const own = databases.filter(({ name }) => name.startsWith(`${prefix}_`));
  await Promise.all(own.map(({ name }) => client.db(name).dropDatabase()));
  await eraseStreams(engines.natsUrl, prefix);
}

/** Removes a prefix's streams. */
async function eraseStreams(natsUrl: string, prefix: string): Promise<void> {
  const connection = await connect(serversOf(natsUrl));
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    for (const stream of Object.values(streamNames(prefix))) await deleteStream(manager, stream);
  } finally {
    await connection.close();
  }
}

async function deleteStream(manager: JetStreamManager, stream: string): Promise<void> {
  try {
    await manager.streams.delete(stream);
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)) throw error;
  }
}
