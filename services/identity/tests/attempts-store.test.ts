import { randomUUID } from 'node:crypto';
import { Secrets } from '@kith/base';
import { HeldChanges, type StoreConfig } from '@kith/store';
import { createStore, handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Attempts } from '../src/attempts.ts';
import { type IdentityStore, openStore } from '../src/store/index.ts';
import { dumpStore } from './support/raw-store.ts';

const hours = 3600_000;
type Who = ReturnType<typeof newUser>;
const newUser = () => ({
  projectId: randomUUID(),
  userId: randomUUID(),
  address: `${randomUUID()}@example.org`,
  clientIp: '198.51.100.1',
});
const tooMany = expect.objectContaining({ code: 'auth/too-many-attempts' });

describe.each(handlerEngines())('failed attempts in the store on %s', (engine) => {
  let store: IdentityStore;
  let place: { config: StoreConfig } & AsyncDisposable;
  let user = newUser();
  beforeAll(async () => {
    place = await createStore(engine);
    store = await openStore(place.config);
  });
  afterAll(async () => {
    await store.close();
    await place[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    [ahead, user] = [0, newUser()];
  });
  const secrets = new Secrets('a secret of thirty-two characters');
  let ahead = 0;
  const open = (of: IdentityStore) =>
    new Attempts({ store: of.attempts, secrets, now: () => Date.now() + ahead });
  const fail = (attempts: Attempts, of: Partial<Who> = {}) =>
    attempts.check({ ...user, ...of }, async () => false).catch((error) => error);

  const right = (attempts: Attempts, of: Partial<Who> = {}) =>
    attempts.check({ ...user, ...of }, async () => true).catch((error) => error);
  const failTimes = async (attempts: Attempts, times: number, of: Partial<Who> = {}) => {
    for (let at = 0; at < times; at++) expect(await fail(attempts, of)).toBe(false);
  };
  const home = { clientIp: '192.0.2.1' };

  test('of 25 simultaneous guesses, only ten are checked, as if they came one after the other', async () => {
    const attempts = open(store);
    const answers = await Promise.all(Array.from({ length: 25 }, () => fail(attempts)));
    expect(answers.filter((answer) => answer === false)).toHaveLength(10);
    expect(answers.filter((answer) => answer !== false)).toEqual(Array(15).fill(tooMany));
  });

  test('each further failure doubles the wait, from 30 s to an hour; attempts during a wait change nothing', async () => {
    const attempts = open(store);
    await failTimes(attempts, 10);
    for (const wait of [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]) {
      const refusals = [await fail(attempts), await right(attempts)];
      const left = Number(refusals[0].headers['Retry-After']);
      expect(refusals).toEqual([tooMany, tooMany]);
      expect(left).toBeLessThanOrEqual(wait);
      expect(left).toBeGreaterThan(wait - 5);
      ahead += left * 1000;
      expect(await fail(attempts)).toBe(false);
    }
    ahead += 1 * hours;
    expect(await right(attempts)).toBe(true);
    expect(await fail(attempts)).toBe(false);
    expect(await fail(attempts)).toEqual(tooMany);
    // A day later nobody has to wait.
    ahead += 24 * hours;
    await failTimes(attempts, 10);
  });

  test('failures within 15 minutes are counted together', async () => {
    const attempts = open(store);
    await failTimes(attempts, 9);
    ahead = 15 * 60_000;
    await failTimes(attempts, 10);
    expect(await fail(attempts)).toEqual(tooMany);
  });

  test('a known client has a count of its own for 30 days', async () => {
    const attempts = open(store);
    await attempts.signedIn({ ...user, ...home });
    await failTimes(attempts, 10, home);
    expect(await fail(attempts, home)).toEqual(tooMany);
    await failTimes(attempts, 10);
    ahead = 30 * 24 * hours;
    await failTimes(attempts, 10);
    expect(await right(attempts, home)).toBe(true);
    // Another user's account does not know this client.
    const other = { userId: randomUUID(), address: 'eve@example.org' };
    await failTimes(attempts, 10, other);
    expect(await right(attempts, { ...other, ...home })).toEqual(tooMany);
    ahead += 2 * hours;
    await failTimes(attempts, 1);
    expect(await right(attempts, home)).toEqual(tooMany);
  });

  test('clients of one IPv6 network are one client', async () => {
    const attempts = open(store);
    await attempts.signedIn({ ...user, clientIp: '2001:db8::1' });
    await failTimes(attempts, 10);
    expect(await right(attempts, { clientIp: '2001:db8::5:6:7:8' })).toBe(true);
    expect(await right(attempts, { clientIp: '2001:db8:0:1::1' })).toEqual(tooMany);
  });

  test('replicas share one count', async () => {
    // In the embedded form, two processes cannot share the SQLite file, so both replicas use one open store.
    const second = engine === 'embedded' ? store : await openStore(place.config);
    try {
      const replicas = [open(store), open(second)] as const;
      for (let at = 0; at < 10; at++) expect(await fail(replicas[at % 2 === 0 ? 0 : 1])).toBe(false);
      for (const replica of replicas) {
        expect(await fail(replica)).toEqual(tooMany);
        expect(await fail(replica, { address: 'ben@example.org' })).toBe(false);
      }
    } finally {
      if (second !== store) await second.close();
    }
  });

  test('a failure is counted immediately, even if the other changes of its request are held back', async () => {
    const attempts = open(store);
    for (let at = 0; at < 10; at++) {
      await new HeldChanges(store.replies).run(() => fail(attempts));
    }
    expect(await fail(attempts)).toEqual(tooMany);
  });

  test('a check that throws an error does not count as a failure', async () => {
    const attempts = open(store);
    for (let at = 0; at < 12; at++) {
      const gone = attempts.check(user, () => Promise.reject(new Error('the database is away')));
      await expect(gone).rejects.toThrow('the database is away');
    }
    expect(await fail(attempts)).toBe(false);
  });

  test('a failure is taken back if its attempt succeeds later, unless another failure was counted meanwhile', async () => {
    const attempts = open(store);
    const rightLater = (before: () => Promise<unknown> = async () => undefined) =>
      attempts.check(
        user,
        async () => false,
        async () => {
          await before();
          return true;
        },
      );
    for (let at = 0; at < 12; at++) expect(await rightLater()).toBe(true);
    await failTimes(attempts, 8);
    // Another replica counts a failure meanwhile, and neither failure is lost.
    expect(await rightLater(() => fail(open(store)))).toBe(true);
    expect(await fail(attempts)).toEqual(tooMany);
    const other = { ...user, address: 'ann@example.org' };
    const late = () => Promise.reject(new Error('no time left'));
    for (let at = 0; at < 10; at++) {
      await expect(attempts.check(other, async () => false, late)).rejects.toThrow('no time left');
    }
    expect(await fail(attempts, other)).toEqual(tooMany);
  });

  test('a password reset ends the waits, including those of known clients, and the clients stay known', async () => {
    const attempts = open(store);
    await attempts.signedIn({ ...user, ...home });
    for (let at = 0; at < 10; at++) await fail(attempts, home);
    for (let at = 0; at < 10; at++) await fail(attempts);
    expect([await fail(attempts), await fail(attempts, home)]).toEqual([tooMany, tooMany]);
    await attempts.end(user);
    for (let at = 0; at < 10; at++) expect(await fail(attempts)).toBe(false);
    expect(await fail(attempts)).toEqual(tooMany);
    expect(await fail(attempts, home)).toBe(false);
  });

  test('wrong factors and wrong passwords have separate counts; a right factor resets the count of its client or of strangers', async () => {
    const attempts = open(store);
    const show = (isRight: boolean, of: Partial<Who> = {}) =>
      attempts.checkFactor({ ...user, ...of }, async () => isRight).catch((error) => error);
    const wrongTimes = async (times: number, of: Partial<Who> = {}) => {
      for (let at = 0; at < times; at++) expect(await show(false, of)).toBe(false);
    };
    // A client that has given the right password, but no second factor yet, counts as a stranger.
    await attempts.signedIn({ ...user, ...home });
    await wrongTimes(9);
    expect(await show(true, home)).toBe(true);
    await wrongTimes(10);
    expect(await show(true)).toEqual(tooMany);
    expect(await fail(attempts)).toBe(false);
    await wrongTimes(9, home);
    expect(await show(true, home)).toBe(true);
    await wrongTimes(10, home);
    await attempts.end(user);
    expect([await show(true), await show(true, home)]).toEqual([tooMany, tooMany]);
    await attempts.endFactors(user);
    expect([await show(false), await show(false, home)]).toEqual([false, false]);
    // `endFactors` has made both clients strangers again.
    await wrongTimes(8, home);
    expect(await show(false)).toEqual(tooMany);
    ahead = 24 * hours;
    expect(await show(true, home)).toBe(true);
    await wrongTimes(10);
    ahead += 30 * 24 * hours;
    await wrongTimes(10);
    expect(await show(true, home)).toBe(true);
    ahead += 32 * 24 * hours;
    await wrongTimes(10);
    expect(await show(true, home)).toEqual(tooMany);
  });

  test('attempts are removed with their user, and when they have expired', async () => {
    const rows = async () => {
      const { attempts } = await dumpStore(place.config);
      return attempts?.filter(({ doc, d }) => doc ?? d).length ?? 0;
    };
    const before = await rows();
    ahead = -40 * 24 * hours;
    const attempts = open(store);
    await attempts.signedIn({ ...user, clientIp: '192.0.2.1' });
    await fail(attempts, { address: 'old@example.org' });
    await store.sweep();
    expect(await rows()).toBe(before);
    ahead = 0;
    await attempts.signedIn({ ...user, clientIp: '192.0.2.1' });
    await attempts.signedIn({ ...user, clientIp: '192.0.2.2' });
    await fail(attempts);
    await attempts.checkFactor({ ...user, clientIp: '192.0.2.1' }, async () => true);
    await attempts.checkFactor(user, async () => false);
    await store.sweep();
    expect(await rows()).toBe(before + 5);
    await attempts.forget(user);
    expect(await rows()).toBe(before);
  });
});
