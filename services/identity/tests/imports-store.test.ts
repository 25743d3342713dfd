import { randomUUID } from 'node:crypto';
import { userCreated } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { IdentityStore, User } from '../src/store/index.ts';
import { userDeletedEvent, userEvent, userEvents } from '../src/user-events.ts';
import { foreignUserId } from '../src/user-ids.ts';
import { storeForEach } from './support/suite.ts';
import { makeUser } from './support/users.ts';

describe.each(handlerEngines())('imports in the store on %s', (engine) => {
  let store: IdentityStore;
  storeForEach(engine, (opened) => {
    store = opened;
  });
  afterEach(() => vi.useRealTimers());

  test('do not bring back a user whose account has ended, during the erasure and after it', async () => {
    const user = makeUser();
    const { projectId, id: userId } = user;
    const again = async () => store.imports.add(projectId, [{ ...user, seq: 0 }, makeUser({ projectId })]);
    await store.users.add(user, userEvent(userCreated, user));
    expect(await again()).toEqual([{ there: user }, 'stored']);
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

  test('do not bring back a user under the foreign id of an ended account, whatever id the row has', async () => {
    const user = makeUser();
    const { projectId, foreignId } = user;
    const others = () => [
      makeUser({ projectId, foreignId }),
      makeUser({ projectId, foreignId, id: foreignUserId(projectId, foreignId ?? '') }),
      makeUser({ projectId }),
    ];
    await store.users.add(user, userEvent(userCreated, user));
    const outcomes = ['foreign-id-taken', 'foreign-id-taken', 'stored'];
    expect(await store.imports.add(projectId, others())).toEqual(outcomes);
    await store.erasure.remove(user, userDeletedEvent(user, new Date()));
    expect(await store.imports.add(projectId, others())).toEqual(['deleted', 'deleted', 'stored']);
    expect(await store.people.findByForeignId(projectId, foreignId ?? '')).toBeNull();
    // A new user with the same foreign id can be created without an import. The next import finds this user.
    const anew = makeUser({ projectId, foreignId });
    expect(await store.users.add(anew, userEvent(userCreated, anew))).toBe('stored');
    expect(await store.imports.add(projectId, [anew, ...others()])).toEqual([
      { there: anew },
      'deleted',
      'deleted',
      'stored',
    ]);
    // In another project, the same foreign id belongs to another user.
    expect(await store.imports.add(randomUUID(), [makeUser({ foreignId })])).toEqual(['stored']);
  });

  test('bring back no user whose account ends during the import', async () => {
    const projectId = randomUUID();
    const users = Array.from({ length: 30 }, () => makeUser({ projectId }));
    await Promise.all(users.map((user) => store.users.add(user, userEvent(userCreated, user))));
    const again = users.map(({ foreignId }) => makeUser({ projectId, foreignId }));
    const [outcomes] = await Promise.all([
      store.imports.add(projectId, again),
      ...users.map((user) => store.erasure.remove(user, userDeletedEvent(user, new Date()))),
    ]);
    for (const [index, { foreignId }] of again.entries()) {
      expect(['foreign-id-taken', 'deleted']).toContain(outcomes[index]);
      expect(await store.people.findByForeignId(projectId, foreignId ?? '')).toBeNull();
    }
  });

  test('store no user whose erasure is announced again: each user is either stored or announced', async () => {
    const projectId = randomUUID();
    const users = Array.from({ length: 30 }, () => makeUser({ projectId, seq: 0 }));
    const [back] = users as [User, ...User[]];
    expect(await store.imports.add(projectId, [back])).toEqual(['stored']);
    const ids = users.map(({ id }) => id);
    const [outcomes, gone] = await Promise.all([
      store.imports.add(projectId, users),
      store.erasure.reserveGone(projectId, ids),
    ]);
    expect([outcomes[0], gone]).toEqual([{ there: back }, expect.not.arrayContaining([back.id])]);
    const stored = (await store.users.findMany(projectId, ids)).map(({ id }) => id);
    expect(stored.filter((id) => gone.includes(id))).toEqual([]);
    // Each user is either stored and not announced, or announced and then refused by later imports, too.
    expect(await store.imports.add(projectId, users)).toEqual(
      users.map((user) => (stored.includes(user.id) ? { there: user } : 'deleted')),
    );
    const again = await store.erasure.reserveGone(projectId, ids);
    expect(again.toSorted()).toEqual(ids.filter((id) => !stored.includes(id)).toSorted());
  });

  /**
   * Prepares a change of a user's address, and returns the function that makes the change. After the change, the user may take
   * back the old address.
   */
  const newAddress = async (user: User) => {
    const address = `new-${user.email}`;
    await store.mailings.add(user, { kind: 'emailChange', address });
    const until = new Date(Date.now() + 3600_000);
    const token = { hash: user.id, until: until.getTime(), failures: 0 };
    for (const one of await store.mailings.of(user)) await store.mailings.take(one, { dueAt: until, token });
    const [mailing] = await store.mailings.of(user);
    return () =>
      store.mailings.use(mailing!, (before) => {
        const mail = { kind: 'emailChanged', address: user.email!, name: 'old', until } as const;
        return { user: { ...before, email: address, rev: before.rev + 1 }, event: null, mail };
      });
  };

  test('store no user with an address that another user may still take back', async () => {
    const user = makeUser();
    const { projectId, email } = user;
    await store.users.add(user, userEvent(userCreated, user));
    const { user: after } = (await (await newAddress(user))()) as { user: User };
    const others = () => [makeUser({ projectId, email }), makeUser({ projectId }), after];
    expect(await store.imports.add(projectId, others())).toEqual(['email-taken', 'stored', { there: after }]);
    expect(await store.users.findByEmail(projectId, email!)).toBeNull();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3601_000 });
    expect(await store.imports.add(projectId, others())).toEqual(['stored', 'stored', { there: after }]);
  });

  test('store no user with an address that another user gives up during the import', async () => {
    const projectId = randomUUID();
    const users = Array.from({ length: 30 }, () => makeUser({ projectId }));
    await Promise.all(users.map((user) => store.users.add(user, userEvent(userCreated, user))));
    const changes = await Promise.all(users.map(newAddress));
    const others = users.map(({ email }) => makeUser({ projectId, email }));
    const [outcomes] = await Promise.all([
      store.imports.add(projectId, others),
      ...changes.map((change) => change()),
    ]);
    expect(new Set(outcomes)).toEqual(new Set(['email-taken']));
    for (const { email } of users) expect(await store.users.findByEmail(projectId, email!)).toBeNull();
  });

  test('handle rows with the same id one after the other', async () => {
    const [first, second] = [makeUser(), makeUser()];
    const { projectId, id } = first;
    const { email } = second;
    await store.imports.add(projectId, [{ ...second, projectId }]);
    const rows = [{ ...first, email }, first, { ...first, name: 'Later' }];
    expect(await store.imports.add(projectId, rows)).toEqual(['email-taken', 'stored', { there: first }]);
    expect(await store.users.find(projectId, id)).toEqual(first);
  });

  test('store each user once if several requests import the same users, and return the stored user to the others', async () => {
    const projectId = randomUUID();
    const users = Array.from({ length: 40 }, () => makeUser({ projectId }));
    const sides = ['one', 'other', 'third'].map((name) => users.map((user) => ({ ...user, name })));
    const outcomes = await Promise.all(sides.map((rows) => store.imports.add(projectId, rows)));
    for (const [index, { id }] of users.entries()) {
      const stored = await store.users.find(projectId, id);
      const told = outcomes.map((side) => side[index]);
      expect(told.filter((outcome) => outcome === 'stored')).toHaveLength(1);
      const others = told.filter((outcome) => outcome !== 'stored');
      expect(others).toEqual([{ there: stored }, { there: stored }]);
      expect(sides[told.indexOf('stored')]?.[index]).toEqual(stored);
    }
  });

  test('record no more kinds of hashes than allowed, no matter how many requests add kinds at the same time', async () => {
    const projectId = randomUUID();
    const kinds = Array.from({ length: 12 }, (_, kind) => `kind-${kind}`);
    const mayAdd = (known: readonly string[]) => known.length < 4;
    const noted = await Promise.all(
      kinds.map((kind) => store.imports.noteHashKinds(projectId, [kind], mayAdd)),
    );
    const kept = await store.imports.hashKinds(projectId);
    expect(kept).toHaveLength(4);
    expect(new Set(kept).size).toBe(4);
    for (const seen of noted) expect(kept).toEqual(expect.arrayContaining(seen));
    expect(await store.imports.hashKinds(randomUUID())).toEqual([]);
  });
});
