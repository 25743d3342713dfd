import {
  acceptConnection,
  countConnections,
  errorBody,
  listReceivedRequests,
  listSentRequests,
  requestConnection,
} from '@kith/contracts';
import { availableEngines, type EngineKind, type OperationAnswer, testEffort } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { World } from './support/world.ts';

/** How many ask everybody else at once. Each pair costs a real engine about thirty writes: there it is fewer. */
const sizes: Record<EngineKind, number> = {
  embedded: Math.min(100 * testEffort(), 200),
  containers: Math.min(40 * testEffort(), 200),
};
/**
 * Requests under way at a time. Real engines get no more than a service has connections to its database: what waits for
 * one longer than 4 s is refused, and on a slow machine 400 do.
 */
const widths: Record<EngineKind, number> = { embedded: 400, containers: 64 };

describe.each(availableEngines())('a crowd, %s', (engine) => {
  it('of users who all ask each other: one record a pair, no other answer, counts equal lists', {
    timeout: 1_800_000,
  }, async () => {
    await using world = await World.start(engine);
    const users = await world.newPeople(sizes[engine]);
    const asked: { from: string; to: string }[] = [];
    for (const [at, one] of users.entries()) {
      // Both directions of a pair side by side.
      for (const other of users.slice(at + 1)) asked.push({ from: one, to: other }, { from: other, to: one });
    }
    const requested: { id: string; from: string; to: string }[] = [];
    await inParallel(asked, widths[engine], async ({ from, to }) => {
      const answer = await world.call(requestConnection, from, { params: { userId: to } });
      if (answer.status === 201) requested.push({ id: answer.body.id, from, to });
      else expect([answer.status, answer.body]).toEqual([409, errorBody('connection/request-pending')]);
    });
    const pairs = new Set(requested.map(({ from, to }) => [from, to].sort().join()));
    expect([requested.length, pairs.size]).toEqual([asked.length / 2, asked.length / 2]);

    const totals = async (user: string) => {
      const lists = [listSentRequests, listReceivedRequests].map(async (spec) => {
        const { body } = await world.call(spec, user, { query: 'limit=100' });
        expect(body.requests).toHaveLength(Math.min(body.pagination.totalCount, 100));
        return body.pagination.totalCount as number;
      });
      return Promise.all(lists);
    };
    for (const user of users) {
      const sent = requested.filter(({ from }) => from === user).length;
      expect(await totals(user)).toEqual([sent, users.length - 1 - sent]);
    }

    await inParallel(requested, widths[engine], async ({ id, to }) => {
      const answer = await world.call(acceptConnection, to, { params: { connectionId: id } });
      expect(answer.status).toBe(200);
    });
    for (const user of users) {
      expect((await world.call(countConnections, user)).body).toEqual({ count: users.length - 1 });
      expect(await totals(user)).toEqual([0, 0]);
      const { body } = await world.list(user, 'limit=100');
      expect(body.pagination.totalCount).toBe(users.length - 1);
    }
  });

  it('of 50 accepts of one request: one is answered, the rest find nothing, and it is told once', async () => {
    await using world = await World.start(engine);
    const [ann, bob] = (await world.newPeople(2)) as [string, string];
    const { id } = (await world.request(ann, bob)).body;
    const answers: OperationAnswer[] = await Promise.all(
      Array.from({ length: 50 }, () => world.accept(bob, id)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
      expect([status, body]).toEqual([404, errorBody('connection/not-found')]);
    }
    const events = await world.eventsOf(ann, bob, 2);
    expect(events.map(({ type }) => type)).toEqual(['connection.requested', 'connection.accepted']);
  });
});

/** Works through all of it, so many at a time. */
async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
