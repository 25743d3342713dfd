import { randomUUID } from 'node:crypto';
import type { Bus } from '@kith/bus';
import {
  blocksPage,
  connectionBlocked,
  connectionUnblocked,
  deleteUser,
  eventSubject,
  type OwnUser,
  rebuildIdentityBlocks,
  standingBlocks,
  suggestUsers,
  userCreated,
} from '@kith/contracts';
import { makeEvent, serveInternal } from '@kith/service';
import { createStore, handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { blockEvents, keepBlocks } from '../src/blocks.ts';
import { eraseAccount } from '../src/erase-account.ts';
import { finishErasures } from '../src/erasure.ts';
import { type Block, type IdentityStore, openStore } from '../src/store/index.ts';
import { userEvent } from '../src/user-events.ts';
import { makeApp } from './support/app.ts';
import { call } from './support/call.ts';
import { startTestIdentity, type TestIdentity } from './support/identity.ts';
import { callerOf, callerOfSession, makeProject, signUpUser } from './support/people.ts';
import { dumpStore } from './support/raw-store.ts';
import { makeUser } from './support/users.ts';

/** Publishes a block, or its end, as the connections service does. */
async function tell(bus: Bus, { isBlocked, seq, projectId, blockerId, blockedId }: Block): Promise<void> {
  const event = makeEvent(isBlocked ? connectionBlocked : connectionUnblocked, {
    projectId,
    actorId: blockerId,
    aggregate: { type: 'pair', id: [blockerId, blockedId].sort().join(':'), seq },
    data: { blockerId, blockedId, connectionId: null },
    occurredAt: new Date(),
  });
  const body = new TextEncoder().encode(JSON.stringify(event));
  await bus.publish({ subject: eventSubject(bus.prefix, event), id: event.id, body });
}

describe.each(handlerEngines())('blocks on %s', (engine) => {
  let identity: TestIdentity;
  let store: IdentityStore;
  let projectId: string;
  const [ada, bob, eve] = [randomUUID(), randomUUID(), randomUUID()];
  const block = (blockerId: string, blockedId: string, seq: number, isBlocked = true): Block => ({
    projectId,
    blockerId,
    blockedId,
    isBlocked,
    seq,
  });
  const hidden = async (userId: string) =>
    [...(await store.blocks.hiddenFrom(projectId, userId, [ada, bob, eve]))].sort();

  beforeAll(async () => {
    identity = await startTestIdentity(engine);
    store = await openStore(identity.store);
  });
  afterAll(async () => {
    await store.close();
    await identity[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    projectId = randomUUID();
  });

  test('hide the two users from each other, but only in their own project', async () => {
    await store.blocks.keep(block(ada, bob, 1));
    await store.blocks.keep(block(eve, ada, 1));
    expect(await hidden(ada)).toEqual([bob, eve].sort());
    expect(await hidden(bob)).toEqual([ada]);
    expect(await store.blocks.hiddenFrom(randomUUID(), ada, [bob, eve])).toEqual(new Set());
  });

  test('for each direction, show the state of the newest event, no matter in which order the events arrive', async () => {
    await store.blocks.keep(block(ada, bob, 3, false));
    await store.blocks.keep(block(ada, bob, 1));
    expect(await hidden(ada)).toEqual([]);
    await store.blocks.keep(block(bob, ada, 2));
    expect(await hidden(ada)).toEqual([bob]);
    await Promise.all([4, 6, 5].map((seq) => store.blocks.keep(block(ada, bob, seq, seq !== 6))));
    await store.blocks.keep(block(bob, ada, 7, false));
    expect([await hidden(ada), await hidden(bob)]).toEqual([[], []]);
  });

  test('are removed with either of the two users', async () => {
    await store.blocks.keep(block(ada, bob, 1));
    await store.blocks.keep(block(eve, ada, 1));
    await store.blocks.keep(block(eve, bob, 1));
    await store.blocks.forget(projectId, ada);
    expect([await hidden(ada), await hidden(bob), await hidden(eve)]).toEqual([[], [eve], [bob]]);
    const { blocks = [] } = await dumpStore(identity.store);
    const rows = blocks.map((row) => JSON.stringify(row)).filter((row) => row.includes(projectId));
    expect(rows.filter((row) => row.includes(ada))).toEqual([]);
  });

  test('hide the two users from each other’s suggestions as soon as the event arrives', async () => {
    projectId = await makeProject(identity.bus);
    const add = async (name: string) => (await signUpUser(identity.bus, projectId, { name })).user;
    const [anna, annika] = [await add('Anna'), await add('Annika')];
    const suggestedTo = async (user: OwnUser | null): Promise<string[]> => {
      const caller = user ? { caller: callerOf(user) } : {};
      const answer = await call(identity.bus, suggestUsers, { projectId, query: 'query=ann', ...caller });
      return answer.body.map(({ name }: OwnUser) => name).sort();
    };
    expect(await suggestedTo(anna)).toEqual(['Anna', 'Annika']);
    await tell(identity.bus, block(anna.id, annika.id, 1));
    // Each of the two users has a row. MongoDB writes these rows one after the other, so one user may see the change first.
    const bothSee = (count: number) =>
      waitFor(async () => {
        const seen = await Promise.all([suggestedTo(anna), suggestedTo(annika)]);
        return seen.every(({ length }) => length === count);
      });
    await bothSee(1);
    expect(await suggestedTo(anna)).toEqual(['Anna']);
    expect(await suggestedTo(annika)).toEqual(['Annika']);
    expect(await suggestedTo(null)).toEqual(['Anna', 'Annika']);
    await tell(identity.bus, block(anna.id, annika.id, 2, false));
    await bothSee(2);
    expect(await suggestedTo(annika)).toEqual(['Anna', 'Annika']);
  });

  test('are not kept for an erased user, even if late events or a rebuild report them', async () => {
    await using own = await startTestIdentity(engine, { erasureTimes: { everyMs: 20, settleMs: 0 } });
    await using undo = new AsyncDisposableStack();
    const kept = undo.adopt(await openStore(own.store), (opened) => opened.close());
    projectId = await makeProject(own.bus);
    const add = () => signUpUser(own.bus, projectId);
    const session = await add();
    const [gone, stays, other] = [session.user, (await add()).user, (await add()).user];
    const given = { projectId, params: { userId: gone.id }, caller: callerOfSession(session) };
    expect((await call(own.bus, deleteUser, given)).status).toBe(204);
    await waitFor(async () => (await kept.erasure.unfinished(1)).length === 0, { what: 'the erasure' });

    await tell(own.bus, block(stays.id, other.id, 1));
    await tell(own.bus, block(stays.id, gone.id, 1));
    await tell(own.bus, block(stays.id, gone.id, 2, false));
    await tell(own.bus, block(gone.id, other.id, 1));
    const isApplied = async () => (await own.bus.backlog(blockEvents.durable)).pending === 0;
    const blocksNow = async () => JSON.stringify((await dumpStore(own.store)).blocks);
    await waitFor(async () => (await blocksNow()).includes(other.id) && (await isApplied()));
    expect(await blocksNow()).not.toContain(gone.id);

    // The connections service has not erased the user yet, so it still returns these blocks.
    const rows = [block(stays.id, gone.id, 3), block(gone.id, other.id, 3), block(other.id, stays.id, 3)];
    const blocks = rows.map(({ isBlocked: _, ...row }) => row);
    const options = { ...own.runtime, app: {}, checkOutput: true };
    await serveInternal({ spec: blocksPage, handle: async () => ({ blocks, next: null }) }, options);
    await serveInternal({ spec: standingBlocks, handle: async () => ({ blocks: rows }) }, options);
    const operator = { keyId: null, projectIds: null };
    const rebuilt = await call(own.bus, rebuildIdentityBlocks, { operator, body: { after: null } });
    expect(rebuilt.body).toEqual({ copied: 3, next: null });
    expect(await blocksNow()).not.toContain(gone.id);
    const hiddenNow = await kept.blocks.hiddenFrom(projectId, stays.id, [gone.id, other.id]);
    expect(hiddenNow).toEqual(new Set([other.id]));
  });

  test('are removed by a rebuild if the connections service no longer has them, unless a newer event has reported them', async () => {
    await using own = await startTestIdentity(engine);
    await using undo = new AsyncDisposableStack();
    const kept = undo.adopt(await openStore(own.store), (opened) => opened.close());
    projectId = await makeProject(own.bus);
    const add = async () => (await signUpUser(own.bus, projectId)).user.id;
    const [anna, berta, carla, dora] = [await add(), await add(), await add(), await add()];
    const [standing, ended, again] = [block(anna, berta, 1), block(anna, carla, 1), block(anna, dora, 1)];
    const others = Array.from({ length: 150 }, () => block(anna, randomUUID(), 1));
    await kept.blocks.keep(standing, ended, again, ...others);
    const elsewhere = { ...block(anna, berta, 1), projectId: randomUUID() };
    await kept.blocks.keep(elsewhere);

    const asked: unknown[] = [];
    const options = { ...own.runtime, app: {}, checkOutput: true };
    const page = { blocks: [standing].map(({ isBlocked: _, ...row }) => row), next: null };
    await serveInternal({ spec: blocksPage, handle: async () => page }, options);
    const handle = async ({ blocks }: { blocks: Omit<Block, 'isBlocked' | 'seq'>[] }) => {
      asked.push(...blocks.filter((one) => one.projectId !== projectId));
      const ends = blocks.filter(({ blockedId }) => [carla, dora].includes(blockedId));
      // After the connections service has read the blocks for its answer, and before the answer arrives, a user blocks another
      // again.
      await kept.blocks.keep({ ...again, seq: 3 });
      return {
        blocks: blocks.map((one) => ({
          ...one,
          ...(ends.includes(one) ? { isBlocked: false, seq: 2 } : { isBlocked: true, seq: 1 }),
        })),
      };
    };
    await serveInternal({ spec: standingBlocks, handle }, options);
    const operator = { keyId: null, projectIds: null };
    const pages: number[] = [];
    for (let after: string | null = null; ; ) {
      const { body } = await call(own.bus, rebuildIdentityBlocks, { operator, body: { after, projectId } });
      pages.push(body.copied);
      after = body.next;
      if (after === null) break;
    }
    expect(pages.length).toBeGreaterThan(1);
    const stay = [standing, again, ...others].map(({ blockedId }) => blockedId);
    expect(await kept.blocks.hiddenFrom(projectId, anna, [...stay, carla, dora])).toEqual(new Set(stay));
    expect(await kept.blocks.hiddenFrom(projectId, carla, [anna])).toEqual(new Set());
    expect(await kept.blocks.hiddenFrom(projectId, dora, [anna])).toEqual(new Set([anna]));
    expect(asked).toEqual([]);
    expect(await kept.blocks.hiddenFrom(elsewhere.projectId, anna, [berta])).toEqual(new Set([berta]));
  });

  test('are not stored by a process that was about to store them while the user was erased', async () => {
    await using place = await createStore(engine);
    await using undo = new AsyncDisposableStack();
    const app = await makeApp(engine, undo, place.config);
    const [gone, stays] = [makeUser({ projectId }), makeUser({ projectId })];
    for (const user of [gone, stays]) await app.store.users.add(user, userEvent(userCreated, user));
    const { blocks } = app.store;
    const keep = blocks.keep.bind(blocks);
    vi.spyOn(blocks, 'keep').mockImplementationOnce(async (...told: readonly Block[]) => {
      await eraseAccount(app, { projectId, userId: gone.id });
      const isFinished = async () => {
        app.relay.kick();
        await finishErasures(app, 0);
        return (await app.store.erasure.unfinished(1)).length === 0;
      };
      await waitFor(isFinished, { what: 'the erasure' });
      await keep(...told);
    });
    await keepBlocks(app, [block(stays.id, gone.id, 1)]);
    expect((await dumpStore(place.config)).blocks).toEqual([]);
  });
});
