// Quick counterpart: libs/client/tests/streams.test.ts
// Starts at most 1 platform and 9 processes.
import { availableEngines, startPlatform, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { createClient } from '../src/index.ts';
import { reach } from './support/world.ts';

describe.runIf(availableEngines().includes('containers'))('a gateway that is restarted', () => {
  it('makes calls wait, and lets streams continue without missing or repeating a notification', async () => {
    await using platform = await startPlatform({ engine: 'containers' });
    await using world = await reach(platform);
    const { control, projectId } = world;
    const ada = await control.person('Ada');
    const kith = createClient({
      url: platform.url,
      projectId,
      session: ada.session,
      retries: 12,
    });
    const told: string[] = [];
    let opened = 0;
    const controller = new AbortController();
    const onStatus = ({ state }: { state: string }) => {
      if (state === 'open') opened++;
    };
    const listening = (async () => {
      for await (const event of kith.notifications.stream({ signal: controller.signal, onStatus })) {
        told.push(
          event.type === 'notification' ? String(event.notification.metadata.initiatorName) : event.type,
        );
      }
    })();
    const isOver = expect(listening).rejects.toThrow('enough');
    await waitFor(() => opened === 1, { what: 'the stream' });
    const friends = await Promise.all(['One', 'Two', 'Three', 'Four'].map((name) => control.person(name)));
    const request = async (index: number) => {
      const friend = friends[index];
      if (friend) await control.request(friend, ada);
    };
    for (const kill of [false, true]) {
      const done = told.length;
      await request(done);
      await waitFor(() => told.length === done + 1, { what: 'the first notification' });
      const gateway = platform.processes?.process('gateway');
      await (kill ? gateway?.kill() : gateway?.stop());
      const call = kith.connections.count();
      await platform.processes?.start('gateway');
      await request(done + 1);
      expect(await call).toEqual({ count: 0 });
      await waitFor(() => told.length === done + 2, { timeoutMs: 30_000, what: 'what came meanwhile' });
    }
    controller.abort(new Error('enough'));
    await isOver;
    expect(told).toEqual(['One', 'Two', 'Three', 'Four']);
    expect(opened).toBe(3);
  }, 120_000);
});
