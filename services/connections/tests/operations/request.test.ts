import { randomUUID } from 'node:crypto';
import { requestConnection } from '@kith/contracts';
import { callerOf, callOperation, handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusal } from '../support/call.ts';
import { perform } from '../support/pairs.ts';
import { World } from '../support/world.ts';

describe.each(handlerEngines())('request, %s', (engine) => {
  let world: World;
  let ann: string;
  let bob: string;
  beforeAll(async () => {
    world = await World.start(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  async function strangers(): Promise<void> {
    [ann, bob] = (await world.newUsers(2)) as [string, string];
  }

  it('makes a pending request', async () => {
    await strangers();
    const answer = await world.request(ann, bob, { message: '  Hello 🦊 ' });
    expect(answer.status).toBe(201);
    const pair = await world.store.pairOf(world.projectId, ann, bob);
    expect(pair).toMatchObject({ state: 'pending', requesterId: ann, receiverId: bob, message: 'Hello 🦊' });
    expect(answer.body).toEqual({
      id: pair.connectionId,
      status: 'pending',
      createdAt: pair.requestedAt?.toISOString(),
    });
  });

  it.each([{}, { message: null }, { message: ' \n ' }, ''])('treats %j as no message', async (body) => {
    await strangers();
    expect((await world.request(ann, bob, body)).status).toBe(201);
    expect((await world.store.pairOf(world.projectId, ann, bob)).message).toBeNull();
  });

  it('measures the length of a message in code points', async () => {
    await strangers();
    const message = '🦊'.repeat(1_001);
    expect(await world.request(ann, bob, { message })).toMatchObject(
      refusal(400, 'connection/invalid-message', {
        message: 'message must be at most 1000 characters long.',
        field: 'message',
      }),
    );
    expect((await world.request(ann, bob, { message: message.slice(2) })).status).toBe(201);
  });

  it.each([7, true, {}, ['x'], '\ud800'])('refuses the message %j', async (message) => {
    const answer = await world.request(ann, bob, { message });
    expect(answer.status).toBe(400);
    expect(answer.body).toEqual({
      error: expect.stringMatching(/^message /),
      code: 'connection/invalid-message',
      field: 'message',
    });
  });

  it.each(['{', '[]', '"x"'])('refuses the body %s', async (body) => {
    expect(await world.request(ann, bob, body)).toMatchObject(refusal(400, 'request/invalid-json'));
  });

  it('refuses a request to oneself before any other check, no matter whether the id is in upper or lower case', async () => {
    const stranger = 'abcdefab-0000-4000-8000-000000000000';
    for (const userId of [stranger, stranger.toUpperCase()]) {
      const answer = await world.request(stranger, userId);
      expect(answer).toMatchObject(refusal(400, 'connection/self-request'));
      expect(Object.keys(answer.body)).toEqual(['error', 'code']);
    }
  });

  it('answers "not found" for users of other projects, unknown users and malformed ids', async () => {
    await strangers();
    const elsewhere = await world.newUser({}, await world.newProject());
    const answers = [
      await world.request(ann, elsewhere),
      await world.request(ann, randomUUID()),
      await world.request(ann, 'nobody'),
      // The caller belongs to another project, so the caller is unknown in this one. The receiver is known.
      await world.request(elsewhere, bob),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject(refusal(404, 'connection/user-not-found'));
      expect(answer.text).toBe(answers[0]!.text);
    }
  });

  it('refuses requests from both sides while a request is pending', async () => {
    await strangers();
    await world.request(ann, bob);
    for (const [from, to] of [
      [ann, bob],
      [bob, ann],
    ] as const) {
      expect(await world.request(from, to)).toMatchObject(refusal(409, 'connection/request-pending'));
    }
  });

  it('refuses requests from both sides while the two users are connected', async () => {
    await strangers();
    await world.connect(ann, bob);
    for (const [from, to] of [
      [ann, bob],
      [bob, ann],
    ] as const) {
      expect(await world.request(from, to)).toMatchObject(refusal(409, 'connection/already-connected'));
    }
  });

  it('after a decline, lets only the receiver ask again, with a new id and exchanged roles', async () => {
    await strangers();
    const first = await world.request(ann, bob);
    const { projectId, store } = world;
    await perform(store, { projectId, userId: bob, otherId: ann, action: 'decline' });
    expect(await world.request(ann, bob)).toMatchObject(refusal(409, 'connection/request-declined'));
    const second = await world.request(bob, ann);
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect(await world.accept(bob, second.body.id)).toMatchObject(refusal(403, 'connection/unauthorized'));
    expect((await world.accept(ann, second.body.id)).status).toBe(200);
  });

  it('publishes an event for a request and for its acceptance', async () => {
    await strangers();
    const events: unknown[] = [];
    const subjects = [`${world.bus.prefix}.event.${world.projectId}.connection.>`];
    const intake = await world.bus.consume({ durable: `test-${ann}`, subjects }, async ({ body }) => {
      const event = JSON.parse(new TextDecoder().decode(body));
      if (event.aggregate.id.includes(ann)) events.push(event);
    });
    const { body } = await world.request(ann, bob, { message: 'Hi' });
    await world.accept(bob, body.id);
    await waitFor(() => events.length === 2);
    await intake.drain();
    const [lower, higher] = [ann, bob].sort();
    const common = { id: expect.any(String), version: 1, projectId: world.projectId };
    const data = { connectionId: body.id, requesterId: ann, receiverId: bob };
    expect(events).toContainEqual({
      ...common,
      type: 'connection.requested',
      occurredAt: body.createdAt,
      actorId: ann,
      aggregate: { type: 'connection', id: `${lower}:${higher}`, seq: 1 },
      data: { ...data, message: 'Hi' },
    });
    expect(events).toContainEqual({
      ...common,
      type: 'connection.accepted',
      occurredAt: expect.any(String),
      actorId: bob,
      aggregate: { type: 'connection', id: `${lower}:${higher}`, seq: 2 },
      data,
    });
  });

  it('answers with a server error if it has to ask identity while identity is stopped', async () => {
    await using own = await World.start(engine);
    const user = await own.newUser();
    await own.identity.stop();
    expect(await own.request(user, randomUUID())).toMatchObject(refusal(500, 'connection/server-error'));
  });

  it('validates the body before it checks the target', async () => {
    const caller = callerOf(randomUUID());
    const answer = await callOperation(world.bus, requestConnection, {
      projectId: world.projectId,
      caller,
      params: { userId: caller.userId },
      body: { message: 1 },
    });
    expect(answer.body.code).toBe('connection/invalid-message');
  });
});
