import { randomUUID } from 'node:crypto';
import {
  acceptConnection,
  blockUser,
  countConnections,
  countUserConnections,
  declineConnection,
  deleteConnection,
  deleteConnectionWithUser,
  getConnectionStatus,
  listBlocks,
  listConnections,
  listReceivedRequests,
  listSentRequests,
  listUserConnections,
  type OperationSpec,
  requestConnection,
  unblockUser,
} from '@kith/contracts';
import type { OperationAnswer } from '@kith/testing';
import fc from 'fast-check';
import { expect } from 'vitest';
import { Model, type Move } from './model.ts';
import type { World } from './world.ts';

const toUser = {
  request: requestConnection,
  'remove-with': deleteConnectionWithUser,
  block: blockUser,
  unblock: unblockUser,
};
const byId = { accept: acceptConnection, decline: declineConnection, remove: deleteConnection };

/** Makes random moves of `actors` actors. In one of ten moves, an actor acts on themselves. */
function moves(actors: number): fc.Arbitrary<Move> {
  const actor = fc.nat({ max: actors - 1 });
  const two = fc
    .record({ one: actor, step: fc.integer({ min: 1, max: actors - 1 }), isOne: fc.nat({ max: 9 }) })
    .map(({ one, step, isOne }) => ({ one, other: isOne === 0 ? one : (one + step) % actors }));
  const doing = fc.constantFrom(
    'request',
    'request',
    'request',
    'remove-with',
    'block',
    'unblock',
    'unblock',
  );
  const user = fc.tuple(doing, two).map(([move, { one, other }]) => ({ do: move, by: one, to: other }));
  const id = fc.record({
    do: fc.constantFrom('accept', 'accept', 'decline', 'remove'),
    by: actor,
    of: two,
  });
  return fc.oneof(user, id) as fc.Arbitrary<Move>;
}

/** Plays random moves of `actors` actors, and compares the service with the model after each move. */
export async function agreeWithModel(
  world: World,
  of: { actors: number; runs: number; steps: number },
): Promise<void> {
  const sequence = fc.array(moves(of.actors), { minLength: 10, maxLength: of.steps, size: 'max' });
  await fc.assert(
    fc.asyncProperty(sequence, async (played) => {
      const users = await world.newPeople(of.actors);
      const model = new Model(of.actors);
      for (const move of played) {
        await play(world, model, users, move);
        await agree(world, model, users);
      }
    }),
    { numRuns: of.runs, endOnFailure: true },
  );
}

async function play(world: World, model: Model, users: readonly string[], move: Move): Promise<void> {
  const by = users[move.by]!;
  let answer: OperationAnswer;
  if ('to' in move) {
    answer = await world.call(toUser[move.do], by, { params: { userId: users[move.to]! } });
  } else {
    const { connectionId } = model.between(move.of.one, move.of.other);
    answer = await world.call(byId[move.do], by, {
      params: { connectionId: connectionId ?? randomUUID() },
    });
  }
  const note = 'to' in move ? model.between(move.by, move.to) : null;
  const foretold = model.play(move);
  expect([answer.status, answer.body?.code]).toEqual([foretold.status, foretold.code]);
  if (move.do === 'request' && foretold.status === 201) note!.connectionId = answer.body.id;
  if (move.do === 'remove-with' && foretold.ends) {
    expect(answer.body.action ?? answer.body.status).toBe(
      foretold.ends === 'decline' ? 'declined' : foretold.ends,
    );
  }
}

async function agree(world: World, model: Model, users: readonly string[]): Promise<void> {
  await Promise.all(users.map((_, user) => agreeFor(world, model, users, user)));
}

async function agreeFor(world: World, model: Model, users: readonly string[], user: number): Promise<void> {
  const by = users[user]!;
  const expected = model.listsOf(user);
  const shown = async (spec: OperationSpec, params: Record<string, string> = {}) => {
    const { body } = await world.call(spec, by, { params });
    const items: { user?: { id: string }; connectedUser?: { id: string } }[] =
      body.connections ?? body.requests ?? body.data;
    const total = body.pagination.totalCount ?? body.pagination.totalItems;
    expect(total).toBe(items.length);
    return items.map((item) => users.indexOf((item.connectedUser ?? item.user)!.id)).sort();
  };
  const { count } = (await world.call(countConnections, by)).body;
  expect({
    connected: await shown(listConnections),
    sent: await shown(listSentRequests),
    received: await shown(listReceivedRequests),
    blocks: await shown(listBlocks),
    count,
  }).toEqual({ ...expected, count: expected.connected.length });
  for (const [other, userId] of users.entries()) {
    if (other === user) continue;
    expect(await shown(listUserConnections, { userId })).toEqual(model.seenBy(user, other));
    const seen = (await world.call(countUserConnections, by, { params: { userId } })).body;
    expect(seen.count).toBe(model.seenBy(user, other).length);
    const note = model.between(user, other);
    const { body } = await world.call(getConnectionStatus, by, { params: { userId } });
    expect([body.status, body.connectionId ?? null]).toEqual([note.state, note.connectionId]);
    if ('type' in body) expect(body.type).toBe(note.requester === user ? 'sent' : 'received');
  }
}
