import { randomUUID } from 'node:crypto';
import { userCreated } from '@kith/contracts';
import { MongoOutbox } from '@kith/service';
import { type Db, MongoServerError } from 'mongodb';
import { expect, test } from 'vitest';
import { makeUser } from '../../tests/support/users.ts';
import { userEvent } from '../user-events.ts';
import { MongoUsers } from './mongo-users.ts';

const deadlock = new MongoServerError({ message: 'deadlock detected', code: 16908292 });
const duplicate = new MongoServerError({ message: 'duplicate key', code: 11000 });

/** A database whose writes fail in turn as given, and in which `held` is what a search finds. No engine deadlocks at will. */
function failing(failures: Error[], held: (filter: object) => boolean = () => false) {
  let stored = 0;
  const collection = {
    async insertOne() {
      const failure = failures.shift();
      if (failure) throw failure;
      stored += 1;
    },
    findOne: async (filter: object) => (held(filter) ? { _id: randomUUID() } : null),
  };
  const db = { collection: () => collection } as unknown as Db;
  const users = new MongoUsers(db, new MongoOutbox(db, []));
  const user = makeUser();
  return { add: () => users.add(user, userEvent(userCreated, user)), stored: () => stored };
}

test('writes again what was given up to end a deadlock, or met a name that nobody holds', async () => {
  const users = failing([deadlock, duplicate, deadlock]);
  expect(await users.add()).toBe('stored');
  expect(users.stored()).toBe(1);
});

test('tells which name is taken when the winner of a deadlock has it', async () => {
  expect(await failing([deadlock], (filter) => 'usernameKey' in filter).add()).toBe('username-taken');
  expect(await failing([deadlock], (filter) => 'email' in filter).add()).toBe('email-taken');
  expect(await failing([deadlock], () => true).add()).toBe('foreign-id-taken');
});

test('sees that a write was stored whose answer was lost', async () => {
  const users = failing([duplicate], (filter) => Object.keys(filter).join() === '_id');
  expect(await users.add()).toBe('stored');
  expect(users.stored()).toBe(0);
});

test('passes every other failure on, and does not try for ever', async () => {
  const other = new MongoServerError({ message: 'disk full', code: 14031 });
  await expect(failing([other]).add()).rejects.toThrow(other);
  await expect(failing(Array.from({ length: 100 }, () => deadlock)).add()).rejects.toThrow('again and again');
});
