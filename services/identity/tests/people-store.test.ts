import { randomUUID } from 'node:crypto';
import { DeadlinePassed, fold } from '@kith/base';
import { userCreated, userUpdated } from '@kith/contracts';
import { openDocuments } from '@kith/store/open';
import { createStore, handlerEngines } from '@kith/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { placeOf } from '../src/listing.ts';
import { declared } from '../src/store/collections.ts';
import type { IdentityStore, User } from '../src/store/index.ts';
import { People } from '../src/store/people.ts';
import { Users } from '../src/store/users.ts';
import { userEvent } from '../src/user-events.ts';
import { storeForEach } from './support/suite.ts';
import { makeUser } from './support/users.ts';

describe.each(handlerEngines())('looking people up in the store on %s', (engine) => {
  let store: IdentityStore;
  let projectId: string;

  storeForEach(engine, (opened) => {
    store = opened;
  });
  beforeEach(() => {
    projectId = randomUUID();
  });

  const add = async (fields: Partial<User> = {}) => {
    const user = makeUser({ projectId, ...fields });
    expect(await store.users.add(user, userEvent(userCreated, user))).toBe('stored');
    return user;
  };
  const suggest = (search: string, limit: number) =>
    store.people.suggest(projectId, search, {
      limit,
      hiddenAmong: async () => new Set(),
      deadline: Date.now() + 10_000,
    });
  const names = (users: readonly User[]) => users.map(({ name, username }) => username ?? name);

  test('finds a user by username in any case and by exact foreign id, only in the user’s project', async () => {
    const user = await add({ username: 'Some.One', foreignId: 'a.$b' });
    await add();
    const { people } = store;
    expect(await people.findByUsername(projectId, 'sOME.oNE')).toEqual(user);
    expect(await people.findByForeignId(projectId, 'a.$b')).toEqual(user);
    for (const found of [
      await people.findByUsername(projectId, 'Some_One'),
      await people.findByUsername(projectId, ''),
      await people.findByForeignId(projectId, 'A.$b'),
      await people.findByForeignId(projectId, 'a\0'),
      await people.findByUsername(randomUUID(), 'some.one'),
      await people.findByForeignId(randomUUID(), 'a.$b'),
    ]) {
      expect(found).toBeNull();
    }
  });

  test('refuses a foreign id that another user of the project has, and reports it before other taken names', async () => {
    const { foreignId, email } = await add({ foreignId: 'f' });
    const again = makeUser({ projectId, foreignId, email });
    expect(await store.users.add(again, userEvent(userCreated, again))).toBe('foreign-id-taken');
    await add({ foreignId: 'F' });
    await add({ projectId: randomUUID(), foreignId: 'f' });
    const racers = Array.from({ length: 10 }, () => makeUser({ projectId, foreignId: 'race' }));
    const outcomes = await Promise.all(
      racers.map((user) => store.users.add(user, userEvent(userCreated, user))),
    );
    expect(outcomes.sort()).toEqual([...Array.from({ length: 9 }, () => 'foreign-id-taken'), 'stored']);
  });

  test('lists users from any position, newest first, and by id if their times are the same', async () => {
    const users: User[] = [];
    for (let index = 0; index < 7; index++) {
      users.push(await add({ createdAt: new Date(1_000_000_000_000 + Math.floor(index / 2) * 1_000) }));
    }
    await add({ projectId: randomUUID() });
    const sorted = users.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
    expect(sorted[0]).toBe(users[6]);
    const list = (from: { skip: number } | { after: string }, limit = 3) =>
      store.people.list(projectId, '', { from, limit });
    expect(await list({ skip: 0 }, 100)).toEqual({ rows: sorted, total: 7 });
    expect(await list({ skip: 2 })).toEqual({ rows: sorted.slice(2, 5), total: 7 });
    expect(await list({ skip: Number.MAX_SAFE_INTEGER })).toEqual({ rows: [], total: 7 });
    const after = placeOf(sorted[4] as User);
    expect(await list({ after })).toEqual({ rows: sorted.slice(5), total: 7 });
  });

  test('lists users whose username, name or e-mail address contains a text; no character of the text is a wildcard', async () => {
    const at = (minute: number) => ({ createdAt: new Date(Date.UTC(2026, 0, 1, 0, minute)) });
    const ada = await add({ ...at(3), username: 'ada', name: null, email: 'a@example.org' });
    const byName = await add({ ...at(2), username: null, name: 'An ADA', email: 'b@example.org' });
    const byEmail = await add({ ...at(1), username: null, name: 'C', email: 'c.ada@example.org' });
    const none = await add({ ...at(0), username: 'a.a', name: 'A*A (a|b) \\', email: null });
    const list = (search: string, from: { skip: number } | { after: string } = { skip: 0 }) =>
      store.people.list(projectId, search, { from, limit: 10 });
    expect(await list('ada')).toEqual({ rows: [ada, byName, byEmail], total: 3 });
    expect(await list('ada', { skip: 1 })).toEqual({ rows: [byName, byEmail], total: 3 });
    expect(await list('ada', { after: placeOf(ada) })).toEqual({ rows: [byName, byEmail], total: 3 });
    for (const part of ['a*a', '(a|b)', '\\', 'a.a']) expect((await list(part)).rows).toEqual([none]);
    for (const part of ['.*', 'a_a', '%', '^a', '\0', 'ada\0']) expect((await list(part)).total).toBe(0);
  });

  test('suggests first users whose username begins with the text, then users whose name begins with it, then all others', async () => {
    await add({ username: 'x.ann', name: null });
    await add({ username: null, name: 'Anna' });
    await add({ username: 'annb', name: 'Ann' });
    await add({ username: 'anna', name: null });
    await add({ username: null, name: 'Joanne' });
    await add({ username: 'bob', name: 'Bob' });
    await add({ projectId: randomUUID(), username: 'ann' });
    const found = names(await suggest('ann', 5));
    expect(found.slice(0, 3)).toEqual(['anna', 'annb', 'Anna']);
    expect(found.slice(3).sort()).toEqual(['Joanne', 'x.ann']);
    expect(names(await suggest('ann', 2))).toEqual(['anna', 'annb']);
    expect(names(await suggest('ann', 4))).toHaveLength(4);
    for (const part of ['.*', 'a_n', '%', '\0']) {
      expect(await suggest(part, 5)).toEqual([]);
    }
  });

  test.each([
    ['İstanbul', 'ISTAN'],
    ['Jörg Straße', 'STRASSE'],
    ['Zoë', 'zoe'],
    ['Фёдор', 'ФЕД'],
    ['Ελένη Σοφός', 'σοφοσ'],
    ['田中太郎', '中太'],
    ['🦊 fox', '🦊'],
  ])('suggests %s for %s', async (name, query) => {
    const user = await add({ username: null, name });
    await add({ username: null, name: 'Other' });
    expect(await suggest(fold(query), 5)).toEqual([user]);
  });

  test('finds users after many hidden users with few reads, and stops at the deadline', async () => {
    const username = (nth: number) => `zz.${String(nth).padStart(3, '0')}`;
    await Promise.all(Array.from({ length: 150 }, (_, nth) => add({ username: username(nth), name: null })));
    const shown = await add({ username: 'zzz', name: null });
    const asked: number[] = [];
    const hiddenAmong = async (ids: string[]) => {
      asked.push(ids.length);
      return new Set(ids.filter((id) => id !== shown.id));
    };
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    try {
      const deadline = Date.now() + 10_000;
      expect(await store.people.suggest(projectId, 'zz', { limit: 5, hiddenAmong, deadline })).toEqual([
        shown,
      ]);
    } finally {
      clearImmediate(next);
    }
    expect(asked).toEqual([10, 100, 41]);
    expect(turns).toBeGreaterThanOrEqual(2);
    const late = store.people.suggest(projectId, 'zz', { limit: 5, hiddenAmong, deadline: Date.now() });
    await expect(late).rejects.toThrow(DeadlinePassed);
  });

  test('looks for a text in few users at a time, lets other work run in between, and stops at the deadline', async () => {
    await using place = await createStore(engine);
    const documents = await openDocuments(place.config, declared);
    const [users, people] = [new Users(documents), new People(documents, { searched: 4 })];
    try {
      // As in the search, the newest user comes first. The search looks at four users at a time. Some matching users are the
      // first or the last of their four, for example the users 3 and 4.
      const matching = [0, 3, 4, 5, 6, 7, 11, 12];
      const all = Array.from({ length: 13 }, (_, nth) =>
        makeUser({
          projectId,
          username: null,
          name: matching.includes(nth) ? 'Some one' : 'Other',
          createdAt: new Date(1_000_000_000_000 - nth * 1_000),
        }),
      );
      for (const user of all) expect(await users.add(user, userEvent(userCreated, user))).toBe('stored');
      const hiddenAmong = async () => new Set<string>();
      const search = vi.spyOn(documents, 'search');
      const find = (text: string, limit: number, deadline = Date.now() + 10_000) =>
        people.suggest(projectId, text, { limit, hiddenAmong, deadline });
      const expected = matching.map((nth) => all[nth]);
      expect(await find('one', 20)).toEqual(expected);
      const isBlocking = engine === 'embedded';
      expect(search).toHaveBeenCalledTimes(isBlocking ? 4 : 1);
      // If a page is full before the end of such four users, the next page begins after the last user of the full page.
      for (const limit of [1, 2, 3, 7, 8]) expect(await find('one', limit)).toEqual(expected.slice(0, limit));
      expect(await find('nobody', 20)).toEqual([]);
      // On MongoDB, the search is a single query, so it is not interrupted at the deadline.
      if (isBlocking) await expect(find('nobody', 20, Date.now())).rejects.toThrow(DeadlinePassed);
    } finally {
      await documents.close();
    }
  });

  test('suggests users by their current name', async () => {
    const user = await add({ name: 'Before' });
    const after = { ...user, name: 'Áfter', rev: 2, seq: 2 };
    expect(await store.users.update(after, userEvent(userUpdated, after))).toBe('stored');
    expect(await suggest('before', 5)).toEqual([]);
    expect(await suggest('after', 5)).toEqual([after]);
    const nameless = { ...after, name: null, rev: 3, seq: 3 };
    expect(await store.users.update(nameless, userEvent(userUpdated, nameless))).toBe('stored');
    expect(await suggest('after', 5)).toEqual([]);
  });
});
