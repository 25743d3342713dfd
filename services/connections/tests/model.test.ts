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
import { availableEngines, type EngineKind, type OperationAnswer, testEffort } from '@kith/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Model, type Move } from './support/model.ts';
import { World } from './support/world.ts';

/** Sequences and their length, by engine: each step is looked at from all sides. */
const effort: Record<EngineKind, { runs: number; steps: number }> = {
  embedded: { runs: 60 * testEffort(), steps: 60 },
  containers: { runs: 5 * testEffort(), steps: 25 },
};

const toUser = {
  request: requestConnection,
  'remove-with': deleteConnectionWithUser,
  block: blockUser,
  unblock: unblockUser,
};
const byId = { accept: acceptConnection, decline: declineConnection, remove: deleteConnection };

/** Moves of so many actors; one in ten is of somebody and themselves. */
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

describe.each(availableEngines())('the service and the model, %s', (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  async function play(model: Model, users: readonly string[], move: Move): Promise<void> {
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

  async function agree(model: Model, users: readonly string[]): Promise<void> {
    await Promise.all(users.map((_, user) => agreeFor(model, users, user)));
  }

  async function agreeFor(model: Model, users: readonly string[], user: number): Promise<void> {
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

  it.each([2, 3])('agree after every move of %d', { timeout: 300_000 * testEffort() }, async (actors) => {
    const { runs, steps } = effort[engine];
    const sequence = fc.array(moves(actors), { minLength: 10, maxLength: steps, size: 'max' });
    await fc.assert(
      fc.asyncProperty(sequence, async (played) => {
        const users = await world.newPeople(actors);
        const model = new Model(actors);
        for (const move of played) {
          await play(model, users, move);
          await agree(model, users);
        }
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});
