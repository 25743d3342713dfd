// Starts at most 1 platform and 14 processes.

import { streamNames } from '@kith/bus';
import type { AppNotification } from '@kith/contracts';
import { availableEngines, startPlatform, type TestPlatform, waitFor } from '@kith/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';

// All events are also in the databases. If the broker loses events, the services publish the events of their databases again
// (docs/adr/0027).
describe.runIf(availableEngines().includes('containers'))('a broker that has lost its streams', () => {
  const undo = new AsyncDisposableStack();
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = undo.adopt(await startPlatform({ engine: 'containers' }), (one) => one.stop());
  });
  afterAll(() => undo.disposeAsync());

  it('every consumer gets the events that it has not received yet, and gets no event twice', async () => {
    const project = (await platform.createProject()).id;
    const [asked, ...asking] = await Promise.all(
      Array.from({ length: 4 }, () => platform.createUser(project)),
    );
    const request = async (user: { accessToken: string }) => {
      const path = `/v7/${project}/users/${asked!.id}/connection`;
      const { status } = await http(platform.url, {
        method: 'POST',
        path,
        token: user.accessToken,
        body: {},
      });
      expect(status).toBe(201);
    };
    const notifications = async () => {
      const path = `/v7/${project}/app-notifications?limit=50`;
      const answer = await http(platform.url, { path, token: asked!.accessToken });
      return answer.status === 200 ? (answer.json() as { data: AppNotification[] }).data : [];
    };
    await request(asking[0]!);
    await waitFor(async () => (await notifications()).length === 1);
    await platform.processes?.process('notifications')?.stop();
    await request(asking[1]!);
    await waitFor(() => platform.events.filter(({ type }) => type === 'connection.requested').length === 2);
    await loseStreams(platform);
    await request(asking[2]!);
    await platform.processes?.start('notifications');
    await waitFor(async () => (await notifications()).length === 3);
    const initiators = (await notifications()).map(({ metadata }) => metadata.initiatorId);
    expect(initiators.sort()).toEqual(asking.map(({ id }) => id).sort());
  });
});

async function loseStreams({ engines, prefix }: TestPlatform): Promise<void> {
  const connection = await connect({ servers: new URL(engines!.natsUrl).host });
  const { streams } = await jetstreamManager(connection);
  for (const name of Object.values(streamNames(prefix))) await streams.delete(name).catch(() => false);
  await connection.close();
}
