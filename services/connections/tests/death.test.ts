import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { EventEnvelope } from '@kith/contracts';
import { availableEngines, createRuntime, createStore, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { startConnections } from '../src/index.ts';
import { openStore } from '../src/store/index.ts';
import { unknownUser } from '../src/unknown-user.ts';
import type { DyingWork } from './support/dying-child.ts';

// Starts no platform and at most 2 processes.

async function runDying(work: DyingWork): Promise<void> {
  const script = new URL('./support/dying-child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, JSON.stringify(work)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [, signal] = await once(child, 'close');
  expect(signal).toBe('SIGKILL');
}

describe.each(availableEngines())('a process that dies between storing and publishing, %s', (engine) => {
  it('publishes the stored event after its restart', async () => {
    await using place = await createStore(engine);
    await using runtime = await createRuntime(engine);
    const [projectId, from, to] = [randomUUID(), randomUUID(), randomUUID()];
    const store = await openStore(place.config);
    for (const id of [from, to]) {
      await store.profiles.keep({ seq: 1, user: unknownUser(projectId, id, new Date()) });
    }
    await runDying({ store: place.config, projectId, from, to });
    const pair = await store.pairOf(projectId, from, to);
    expect(pair).toMatchObject({ state: 'pending', requesterId: from, seq: 1 });
    expect(
      (await store.list({ projectId, ownerId: to, list: 'received', from: { skip: 0 }, limit: 2 })).total,
    ).toBe(1);

    const events: EventEnvelope[] = [];
    const subjects = [`${runtime.bus.prefix}.event.>`];
    await runtime.bus.consume({ durable: 'test-events', subjects }, async ({ body }) => {
      events.push(JSON.parse(new TextDecoder().decode(body)));
    });
    await using _service = await startConnections(runtime, { store: place.config });
    await waitFor(() => events.length > 0);
    expect(events).toMatchObject([
      {
        type: 'connection.requested',
        projectId,
        actorId: from,
        aggregate: { type: 'connection', seq: 1 },
        data: { connectionId: pair.connectionId, requesterId: from, receiverId: to, message: null },
      },
    ]);
    await waitFor(async () => (await store.outbox.unpublished(10)).length === 0);
    await store.close();
  });
});
