import { errorBody } from '@kith/contracts';
import { availableEngines, type OperationAnswer } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { World } from './support/world.ts';

const count = 30;
/** Rounds at once: in each of them every user asks one other and is asked by the same. */
const roundsAtOnce = 4;

/** Pairs everybody with everybody, everybody once a round (the circle method of tournaments). */
function tournament(users: readonly string[]): [string, string][][] {
  const [first, ...rest] = users as [string, ...string[]];
  return rest.map((_, round) => {
    const circle = [first, ...rest.slice(round), ...rest.slice(0, round)];
    return circle.slice(0, count / 2).map((user, index) => [user, circle[count - 1 - index]!]);
  });
}

describe.each(availableEngines())('races, %s', (engine) => {
  it('30 users who ask each other at once: one record a pair, totals exact', {
    timeout: 120_000,
  }, async () => {
    await using world = await World.start(engine);
    const { projectId, store } = world;
    const users = await world.newUsers(count);
    const rounds = tournament(users);
    const answers: { from: string; to: string; answer: OperationAnswer }[] = [];
    const ask = async (from: string, to: string) =>
      answers.push({ from, to, answer: await world.request(from, to) });
    while (rounds.length > 0) {
      const now = rounds.splice(0, roundsAtOnce).flat();
      await Promise.all(now.flatMap(([one, other]) => [ask(one, other), ask(other, one)]));
    }
    const requested = answers.filter(({ answer }) => answer.status === 201);
    const refused = answers.filter(({ answer }) => answer.status !== 201);
    for (const { answer } of refused) {
      expect(answer.status).toBe(409);
      expect(answer.body).toEqual(errorBody('connection/request-pending'));
    }
    const pairs = (count * (count - 1)) / 2;
    expect(new Set(requested.map(({ from, to }) => [from, to].sort().join()))).toHaveProperty('size', pairs);
    expect(requested).toHaveLength(pairs);

    for (const user of users) {
      const sentBy = requested.filter(({ from }) => from === user).length;
      const of = { projectId, ownerId: user, from: { skip: 0 }, limit: 100 };
      const sent = await store.list({ ...of, list: 'sent' });
      const received = await store.list({ ...of, list: 'received' });
      expect([sent.total, sent.entries.length]).toEqual([sentBy, sentBy]);
      expect([received.total, received.entries.length]).toEqual([count - 1 - sentBy, count - 1 - sentBy]);
    }

    const accept = async (to: string, id: string) => expect((await world.accept(to, id)).status).toBe(200);
    for (let at = 0; at < requested.length; at += 2 * count) {
      const now = requested.slice(at, at + 2 * count);
      await Promise.all(now.map(({ to, answer }) => accept(to, answer.body.id)));
    }
    for (const user of users) {
      const { body } = await world.list(user, 'limit=100');
      expect(body.pagination.totalCount).toBe(count - 1);
      const others = body.connections.map(
        ({ connectedUser }: { connectedUser: { id: string } }) => connectedUser.id,
      );
      expect(others.sort()).toEqual(users.filter((other) => other !== user).sort());
    }
  });
});
