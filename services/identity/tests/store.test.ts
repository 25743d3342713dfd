import { randomUUID } from 'node:crypto';
import { type EventEnvelope, userCreated, userUpdated } from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { type IdentityStore, openStore, type User } from '../src/store/index.ts';
import { userEvent } from '../src/user-events.ts';
import { dumpStore } from './support/raw-store.ts';
import { storeForEach } from './support/suite.ts';
import { makeUser } from './support/users.ts';

const created = (user: User) => userEvent(userCreated, user);
const updated = (user: User) => userEvent(userUpdated, user);
const next = (user: User, fields: Partial<User>): User => ({
  ...user,
  ...fields,
  rev: user.rev + 1,
  seq: user.seq + 1,
});

describe.each(handlerEngines())('store on %s', (engine) => {
  let store: IdentityStore;

  const place = storeForEach(engine, (opened) => {
    store = opened;
  });

  const storedEvents = async (): Promise<EventEnvelope[]> =>
    (await store.outbox.unpublished(1000)).map(({ event }) => event);

  test('returns a user as stored, even after the store is opened again', async () => {
    const user = makeUser();
    expect(await store.users.add(user, created(user))).toBe('stored');
    expect(await store.users.find(user.projectId, user.id)).toEqual(user);
    await place.reopen();
    expect(await store.users.findByEmail(user.projectId, user.email ?? '')).toEqual(user);
  });

  test('stores several users without any optional field', async () => {
    const projectId = randomUUID();
    const empty = { projectId, foreignId: null, email: null, username: null, passwordHash: null, name: null };
    const rest = { avatar: null, bio: null, location: null, birthdate: null, lastActive: null, metadata: {} };
    const users = [1, 2].map(() => makeUser({ ...empty, ...rest, bannerFileId: null, avatarFileId: null }));
    for (const user of users) expect(await store.users.add(user, created(user))).toBe('stored');
    for (const user of users) expect(await store.users.find(projectId, user.id)).toEqual(user);
  });

  test('finds no users of another project', async () => {
    const user = makeUser();
    await store.users.add(user, created(user));
    expect(await store.users.find(randomUUID(), user.id)).toBeNull();
    expect(await store.users.findByEmail(randomUUID(), user.email ?? '')).toBeNull();
    expect(await store.users.findMany(randomUUID(), [user.id])).toEqual([]);
  });

  test('finds the existing users among many ids', async () => {
    const projectId = randomUUID();
    const users = [makeUser({ projectId }), makeUser({ projectId }), makeUser({ projectId })];
    for (const user of users) await store.users.add(user, created(user));
    const wanted = [users[0]?.id ?? '', randomUUID(), users[2]?.id ?? '', users[2]?.id ?? ''];
    const found = await store.users.findMany(projectId, wanted);
    expect(found.map(({ id }) => id).sort()).toEqual([users[0]?.id, users[2]?.id].sort());
    expect(await store.users.findMany(projectId, [])).toEqual([]);
  });

  test('reports which name is taken, the e-mail address before the username, and allows the same names in other projects', async () => {
    const user = makeUser({ username: 'Some.One' });
    const { projectId, email } = user;
    const add = (fields: Partial<User>) => {
      const other = makeUser(fields);
      return store.users.add(other, created(other));
    };
    await store.users.add(user, created(user));
    expect(await add({ projectId, email, username: 'some.one' })).toBe('email-taken');
    expect(await add({ projectId, email })).toBe('email-taken');
    expect(await add({ projectId, email, username: null })).toBe('email-taken');
    expect(await add({ projectId, username: 'sOME.oNE' })).toBe('username-taken');
    expect(await add({ projectId, email: null, username: 'sOME.oNE' })).toBe('username-taken');
    expect(await add({ email, username: 'Some.One' })).toBe('stored');
    expect(await storedEvents()).toHaveLength(2);
  });

  test.each(['email', 'username'] as const)(
    'if 20 users want the same %s at the same time, only one gets it',
    async (field) => {
      const projectId = randomUUID();
      const users = Array.from({ length: 20 }, (_, index) => {
        const username = index % 2 ? 'racer' : 'RACER';
        return makeUser({ projectId, ...(field === 'email' ? { email: 'a@example.org' } : { username }) });
      });
      const outcomes = await Promise.all(users.map((user) => store.users.add(user, created(user))));
      expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1);
      expect(outcomes.filter((outcome) => outcome === `${field}-taken`)).toHaveLength(19);
      const winner = users[outcomes.indexOf('stored')];
      expect((await storedEvents()).map(({ aggregate }) => aggregate.id)).toEqual([winner?.id]);
    },
  );

  test('if several replicas store users with the same two names at the same time, one user gets both', async () => {
    const replicas = await Promise.all([1, 2, 3].map(() => openStore(place.config())));
    const projectId = randomUUID();
    for (let round = 1; round <= 5; round++) {
      const names = { projectId, email: `${round}@example.org`, username: `racer${round}` };
      const users = [...replicas, ...replicas].map(() => makeUser(names));
      const outcomes = await Promise.all(
        users.map((user, index) => replicas[index % 3]?.users.add(user, created(user))),
      );
      expect(outcomes.sort()).toEqual([...Array.from({ length: 5 }, () => 'email-taken'), 'stored']);
      expect(await storedEvents()).toHaveLength(round);
    }
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  test('updates only profile, role and reputation, with the event, and only if the revision matches', async () => {
    const user = makeUser();
    await store.users.add(user, created(user));
    await store.users.touch(user.projectId, user.id, new Date('2026-02-01T00:00:00.000Z'));
    const after = next(user, {
      username: null,
      name: null,
      metadata: { 'x.y': 1 },
      updatedAt: new Date('2026-03-01T00:00:00.000Z'),
    });
    const given = { ...after, role: 'admin', email: 'else@example.com', passwordHash: 'else' };
    expect(await store.users.update(given, updated(after))).toBe('stored');
    const stored = await store.users.find(user.projectId, user.id);
    expect(stored).toEqual({ ...after, role: 'admin', lastActive: new Date('2026-02-01T00:00:00.000Z') });
    expect(await store.users.update(next(user, { name: 'Late' }), updated(after))).toBe('stale');
    const stranger = next(makeUser(), {});
    expect(await store.users.update(stranger, updated(stranger))).toBe('stale');
    expect((await storedEvents()).map(({ type, aggregate }) => [type, aggregate.seq])).toEqual([
      ['user.created', 1],
      ['user.updated', 2],
    ]);
  });

  test('frees a username that is given up and refuses one that is taken', async () => {
    const user = makeUser({ username: 'First' });
    const other = makeUser({ projectId: user.projectId, username: null });
    for (const one of [user, other]) await store.users.add(one, created(one));
    const wanting = next(other, { username: 'FIRST' });
    expect(await store.users.update(wanting, updated(wanting))).toBe('username-taken');
    const recased = next(user, { username: 'first' });
    expect(await store.users.update(recased, updated(recased))).toBe('stored');
    const without = next(recased, { username: null });
    expect(await store.users.update(without, updated(without))).toBe('stored');
    expect(await store.users.update(wanting, updated(wanting))).toBe('stored');
    expect(await store.users.find(user.projectId, other.id)).toEqual(wanting);
    expect(await storedEvents()).toHaveLength(5);
  });

  test('if 20 simultaneous changes have the same revision, makes only one of them', async () => {
    const user = makeUser();
    await store.users.add(user, created(user));
    const changes = Array.from({ length: 20 }, (_, index) => next(user, { name: `Name ${index}` }));
    const outcomes = await Promise.all(changes.map((after) => store.users.update(after, updated(after))));
    expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'stale')).toHaveLength(19);
    const winner = changes[outcomes.indexOf('stored')];
    expect(await store.users.find(user.projectId, user.id)).toEqual(winner);
    expect((await storedEvents()).at(-1)?.data).toMatchObject({ name: winner?.name });
  });

  test('still stores changes of a user when the user’s document has no more room for unpublished events', async () => {
    let user = makeUser();
    await store.users.add(user, created(user));
    for (let count = 0; count < 40; count++) {
      user = next(user, { name: `Name ${count}` });
      expect(await store.users.update(user, updated(user))).toBe('stored');
    }
    const [row] = (await dumpStore(place.config())).users ?? [];
    expect((row?.outbox as unknown[] | undefined)?.length ?? 0).toBeLessThanOrEqual(16);
    const seqs = (await storedEvents()).map(({ aggregate }) => aggregate.seq).sort((a, b) => a - b);
    expect(seqs).toEqual(Array.from({ length: 41 }, (_, index) => index + 1));
  });

  test('records a later sign-in, but not an earlier one, and makes no event', async () => {
    const user = makeUser({ lastActive: null });
    await store.users.add(user, created(user));
    const [late, early] = [new Date('2026-02-02T00:00:00.000Z'), new Date('2026-02-01T00:00:00.000Z')];
    await store.users.touch(user.projectId, user.id, late);
    await store.users.touch(user.projectId, user.id, early);
    expect(await store.users.find(user.projectId, user.id)).toEqual({ ...user, lastActive: late });
    expect(await storedEvents()).toHaveLength(1);
  });

  test('`check` succeeds until the store is closed', async () => {
    await store.check();
    await store.close();
    await store.close();
    await expect(store.check()).rejects.toThrow();
  });
});
