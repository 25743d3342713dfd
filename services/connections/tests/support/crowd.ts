import {
  acceptConnection,
  countConnections,
  errorBody,
  listReceivedRequests,
  listSentRequests,
  requestConnection,
} from '@kith/contracts';
import { expect } from 'vitest';
import type { World } from './world.ts';

/**
 * How many requests run at the same time. The number is so low that no request waits for a connection to the database. A
 * request that waits longer than 4 s for a connection is refused. With more requests, this would happen to hundreds of them on
 * a slow machine.
 */
const width = 24;

/**
 * Makes `size` new users. Each of them asks every other user to connect, all at the same time. Then all requests are accepted.
 * Each pair gets one record. The slower user of a pair gets the answer that a request is pending. The totals agree with the
 * lists, both before and after the requests are accepted.
 */
export async function askEachOther(world: World, size: number): Promise<void> {
  const users = await world.newPeople(size);
  const asked: { from: string; to: string }[] = [];
  for (const [at, one] of users.entries()) {
    // For each pair, the requests in both directions come directly after each other.
    for (const other of users.slice(at + 1)) asked.push({ from: one, to: other }, { from: other, to: one });
  }
  const requested: { id: string; from: string; to: string }[] = [];
  await inParallel(asked, async ({ from, to }) => {
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
  await inParallel(users, async (user) => {
    const sent = requested.filter(({ from }) => from === user).length;
    expect(await totals(user)).toEqual([sent, size - 1 - sent]);
  });

  await inParallel(requested, async ({ id, to }) => {
    const answer = await world.call(acceptConnection, to, { params: { connectionId: id } });
    expect(answer.status).toBe(200);
  });
  await inParallel(users, async (user) => {
    expect((await world.call(countConnections, user)).body).toEqual({ count: size - 1 });
    expect(await totals(user)).toEqual([0, 0]);
    expect((await connectedWith(world, user)).sort()).toEqual(users.filter((other) => other !== user).sort());
  });
}

/** The users on all pages of a user's connections. */
async function connectedWith(world: World, user: string): Promise<string[]> {
  const others: string[] = [];
  for (let query: string | undefined = 'limit=100'; query !== undefined; ) {
    const { body, next } = await world.list(user, query);
    for (const { connectedUser } of body.connections) others.push(connectedUser.id);
    query = next;
  }
  return others;
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
