import { randomUUID } from 'node:crypto';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusal } from '../support/call.ts';
import { perform } from '../support/pairs.ts';
import { World } from '../support/world.ts';

describe.each(handlerEngines())('accept, %s', (engine) => {
  let world: World;
  let ann: string;
  let bob: string;
  let eve: string;
  let connectionId: string;
  beforeAll(async () => {
    world = await World.start(engine);
    eve = (await world.newPerson()).id;
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(async () => {
    [ann, bob] = (await world.newPeople(2)) as [string, string];
    connectionId = (await world.request(ann, bob, { message: 'Hi' })).body.id;
  });

  it('connects the two users', async () => {
    const answer = await world.accept(bob, connectionId.toUpperCase());
    expect(answer.status).toBe(200);
    const pair = await world.store.pairOf(world.projectId, ann, bob);
    expect(pair).toMatchObject({ state: 'accepted', connectionId, message: 'Hi' });
    expect(answer.body).toEqual({
      id: connectionId,
      status: 'accepted',
      respondedAt: pair.respondedAt?.toISOString(),
    });
  });

  it('gives the same not-found answer for an unknown id, a malformed id, a stranger and another project', async () => {
    const elsewhere = await world.newProject();
    const answers = [
      await world.accept(bob, randomUUID()),
      await world.accept(bob, 'nothing'),
      await world.accept(eve, connectionId),
      await world.accept(bob, connectionId, elsewhere),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject(refusal(404, 'connection/not-found'));
      expect(answer.text).toBe(answers[0]!.text);
    }
  });

  it('is refused to the requester', async () => {
    const answer = await world.accept(ann, connectionId);
    expect(answer).toMatchObject(refusal(403, 'connection/unauthorized'));
    expect(Object.keys(answer.body)).toEqual(['error', 'code']);
  });

  it('answers "not found" to everyone after the request was accepted', async () => {
    await world.accept(bob, connectionId);
    for (const userId of [ann, bob, eve]) {
      expect(await world.accept(userId, connectionId)).toMatchObject(refusal(404, 'connection/not-found'));
    }
  });

  it.each(['decline', 'withdraw'] as const)('answers "not found" after %s', async (action) => {
    const [userId, otherId] = action === 'decline' ? [bob, ann] : [ann, bob];
    await perform(world.store, { projectId: world.projectId, userId, otherId, action });
    for (const by of [ann, bob]) {
      expect(await world.accept(by, connectionId)).toMatchObject(refusal(404, 'connection/not-found'));
    }
  });

  it('does not find a withdrawn request by its id, even if there is a new request', async () => {
    const { projectId, store } = world;
    await perform(store, { projectId, userId: ann, otherId: bob, action: 'withdraw' });
    const anew = await world.request(ann, bob);
    expect(anew.body.id).not.toBe(connectionId);
    expect(await world.accept(bob, connectionId)).toMatchObject(refusal(404, 'connection/not-found'));
    expect((await world.accept(bob, anew.body.id)).status).toBe(200);
  });
});
