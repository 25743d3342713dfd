// Starts no platform and at most 40 processes.
import { createLogger } from '@kith/base';
import { streamNames } from '@kith/bus';
import { NatsBus } from '@kith/bus/nats';
import { availableEngines, startNatsCluster, startOwnNats, uniquePrefix, waitFor } from '@kith/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const log = createLogger({ name: 'test', level: 'silent' });

describe.runIf(availableEngines().includes('containers'))('NATS_STREAM_REPLICAS', () => {
  const undo = new AsyncDisposableStack();
  let url: string;
  beforeAll(async () => {
    url = undo.use(await startNatsCluster()).url;
  }, 60_000);
  afterAll(() => undo.disposeAsync());

  /**
   * Creates the two streams with a bus whose `replicas` has the given value. Returns how many servers then store each stream,
   * as the server reports it.
   */
  async function replicasOf(prefix: string, replicas?: number): Promise<number[]> {
    const bus = await NatsBus.connect({ url, name: 'test', prefix, log, ...(replicas && { replicas }) });
    await waitFor(() =>
      bus.log().then(
        () => true,
        () => false,
      ),
    );
    await bus.close();
    const connection = await connect({ servers: url });
    const { streams } = await jetstreamManager(connection);
    const names = Object.values(streamNames(prefix));
    // After a replica has joined, some time may pass before the server lists it.
    const kept = await waitFor(async () => {
      const infos = await Promise.all(names.map((name) => streams.info(name)));
      const isKept = infos.every(
        ({ config, cluster }) => 1 + (cluster?.replicas?.length ?? 0) === config.num_replicas,
      );
      return isKept && infos.map(({ config }) => config.num_replicas);
    });
    await connection.close();
    return kept;
  }

  test('sets the number of replicas of new streams, raises this number for existing streams, and never lowers it', async () => {
    expect(await replicasOf(uniquePrefix(), 3)).toEqual([3, 3]);
    const prefix = uniquePrefix();
    expect(await replicasOf(prefix)).toEqual([1, 1]);
    expect(await replicasOf(prefix, 3)).toEqual([3, 3]);
    expect(await replicasOf(prefix)).toEqual([3, 3]);
  });

  test('is refused with an error that names the stream if there are too few servers', async () => {
    await using nats = await startOwnNats();
    const prefix = uniquePrefix();
    const bus = await NatsBus.connect({ url: nats.server.url, name: 'test', prefix, log, replicas: 3 });
    const publish = bus.publish({ subject: `${prefix}.event.p.x.y`, id: 'x', body: new Uint8Array() });
    await expect(publish).rejects.toThrow(
      `NATS cannot store the stream ${streamNames(prefix).events} on 3 servers`,
    );
    await bus.close();
  });

  test('a server that the tests start reports a sync interval of one second', async () => {
    await using nats = await startOwnNats();
    const answer = await fetch(`http://127.0.0.1:${nats.server.monitorPort}/varz`);
    const { jetstream } = (await answer.json()) as { jetstream: { config: { sync_interval: number } } };
    expect(jetstream.config.sync_interval).toBe(1e9);
  });
});
