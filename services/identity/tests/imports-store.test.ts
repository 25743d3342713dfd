import { randomUUID } from 'node:crypto';
import { userCreated } from '@kith/contracts';
import { availableEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import type { IdentityStore } from '../src/store/index.ts';
import { userDeletedEvent, userEvent, userEvents } from '../src/user-events.ts';
import { storeForEach } from './support/suite.ts';
import { makeUser } from './support/users.ts';

describe.each(availableEngines())('imports in the store on %s', (engine) => {
  let store: IdentityStore;
  storeForEach(engine, (opened) => {
    store = opened;
  });

  test('bring no user back whose account has ended, neither while it is erased nor after', async () => {
    const user = makeUser();
    const { projectId, id: userId } = user;
    const again = async () => store.imports.add(projectId, [{ ...user, seq: 0 }, makeUser({ projectId })]);
    await store.users.add(user, userEvent(userCreated, user));
    expect(await again()).toEqual(['there', 'stored']);
    await store.erasure.remove(user, userDeletedEvent(user, new Date()));
    expect(await again()).toEqual(['deleted', 'stored']);
    const events = await store.outbox.unpublished(100);
    await store.outbox.markPublished(events.map(({ key }) => key));
    const [deleted] = await store.erasure.unfinished(1);
    const { range, last } = userEvents(deleted!);
    const published = (await store.outbox.published(range, 10)).map(({ key }) => key);
    await store.outbox.forget(published.filter((key) => key !== last));
    expect(await store.erasure.finish(deleted!)).toBe(true);
    expect(await again()).toEqual(['deleted', 'stored']);
    expect(await store.users.find(projectId, userId)).toBeNull();
  });

  test('note so many kinds of hashes and no more, however many ask at once', async () => {
    const projectId = randomUUID();
    const kinds = Array.from({ length: 12 }, (_, kind) => `kind-${kind}`);
    const noted = await Promise.all(kinds.map((kind) => store.imports.noteHashKinds(projectId, [kind], 4)));
    const kept = await store.imports.hashKinds(projectId);
    expect(kept).toHaveLength(4);
    expect(new Set(kept).size).toBe(4);
    for (const seen of noted) expect(kept).toEqual(expect.arrayContaining(seen));
    expect(await store.imports.hashKinds(randomUUID())).toEqual([]);
  });
});
