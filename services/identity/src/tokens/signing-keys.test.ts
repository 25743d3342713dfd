import { Secrets } from '@kith/base';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { KeyStore, SigningKey } from '../store/index.ts';
import { keyTimes, SigningKeys } from './signing-keys.ts';

const secrets = new Secrets('the secret that these keys are sealed under');
const times = { announceMs: 1_000, reloadMs: 100, verifyMs: 5_000, maxAgeMs: 60_000 };

/** A store that replicas share. */
function memory(): KeyStore {
  let keys: SigningKey[] = [];
  const revoked = new Set<string>();
  return {
    async add(key) {
      if (keys.every(({ ordinal }) => ordinal !== key.ordinal)) keys = [key, ...keys];
    },
    list: async () => keys,
    async remove({ kid }) {
      keys = keys.filter((key) => key.kid !== kid);
    },
    async replace(kid, by) {
      keys = keys.map((key) => (key.kid === kid ? by : key));
    },
    async revoke(kid) {
      revoked.add(kid);
    },
    revoked: async () => [...revoked],
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);
const states = (keys: SigningKeys) => keys.current().map((key) => `${key.ordinal} ${keys.stateOf(key)}`);

test('a key is published, then signs, then verifies, and then is removed', async () => {
  const store = memory();
  const keys = await SigningKeys.open(store, secrets, times);
  expect(states(keys)).toEqual(['1 signing']);
  await keys.rotate();
  expect(states(keys)).toEqual(['2 published', '1 signing']);
  await keys.rotate();
  expect(states(keys)).toEqual(['2 published', '1 signing']);
  pass(1_000);
  expect(states(keys)).toEqual(['2 signing', '1 verifying']);
  pass(4_999);
  expect(states(keys)).toEqual(['2 signing', '1 verifying']);
  pass(1);
  expect(states(keys)).toEqual(['2 signing']);
  expect(await store.list()).toHaveLength(2);
  await keys.keepUp();
  expect(await store.list()).toHaveLength(1);
});

test('replicas that rotate at the same time make one key, and begin to sign with it at the same time', async () => {
  const store = memory();
  const replicas = await Promise.all([1, 2, 3].map(() => SigningKeys.open(store, secrets, times)));
  await Promise.all(replicas.slice(0, 2).map((keys) => keys.rotate()));
  await replicas[2]?.keepUp();
  const kids = () => new Set(replicas.map((keys) => keys.signing().kid));
  const before = kids();
  expect(before.size).toBe(1);
  pass(1_000);
  const after = kids();
  expect(after.size).toBe(1);
  expect(after).not.toEqual(before);
  expect(await store.list()).toHaveLength(2);
});

test('if the signing key is too old, the next key is made', async () => {
  const keys = await SigningKeys.open(memory(), secrets, times);
  pass(59_999);
  await keys.keepUp();
  expect(states(keys)).toEqual(['1 signing']);
  pass(1);
  await keys.keepUp();
  expect(states(keys)).toEqual(['2 published', '1 signing']);
});

test('a replica whose clock is behind signs with the only key, even if by this clock the key does not sign yet', async () => {
  const store = memory();
  await SigningKeys.open(store, secrets, times);
  pass(-10_000);
  expect(states(await SigningKeys.open(store, secrets, times))).toEqual(['1 signing']);
});

test.each([61, -61])(
  'a replica whose clock is %i minutes ahead removes no key with which others sign',
  async (minutes) => {
    const store = memory();
    const ahead = minutes * 60_000;
    const others = await SigningKeys.open(store, secrets);
    await others.rotate();
    const [, old] = others.current();
    // Passes the time until the last token of the old key has expired.
    const end = Date.now() + keyTimes.announceMs + 30 * 60_000;
    while (Date.now() < end) {
      pass(ahead);
      await (await SigningKeys.open(store, secrets)).keepUp();
      const itsKeys = (await SigningKeys.open(store, secrets)).current().map(({ kid }) => kid);
      pass(-ahead);
      expect(itsKeys).toContain(old?.kid);
      expect((await store.list()).map(({ kid }) => kid)).toContain(old?.kid);
      pass(60_000);
    }
  },
);

describe('a revoked key', () => {
  const kids = (keys: SigningKeys) => keys.current().map(({ kid }) => kid);

  test('is replaced immediately if it signs, even for a replica whose clock is behind', async () => {
    const store = memory();
    const keys = await SigningKeys.open(store, secrets, times);
    const { kid } = keys.signing();
    expect(await keys.revoke(kid)).toBe(true);
    expect(states(keys)).toEqual(['1 signing']);
    expect(kids(keys)).not.toContain(kid);
    pass(-10_000);
    const behind = await SigningKeys.open(store, secrets, times);
    expect(behind.signing().kid).toBe(keys.signing().kid);
    expect(JSON.stringify(await store.list())).not.toContain(kid);
  });

  test('is removed if it does not sign, and the other keys keep their times', async () => {
    const keys = await SigningKeys.open(memory(), secrets, times);
    await keys.rotate();
    pass(1_000);
    await keys.rotate();
    pass(1_000);
    await keys.rotate();
    expect(states(keys)).toEqual(['4 published', '3 signing', '2 verifying', '1 verifying']);
    const [published, , second] = kids(keys);
    await keys.revoke(published as string);
    await keys.revoke(second as string);
    expect(states(keys)).toEqual(['3 signing', '1 verifying']);
    pass(5_000);
    expect(states(keys)).toEqual(['3 signing']);
  });

  test('must have existed, or the revocation is refused; a second revocation changes nothing', async () => {
    const keys = await SigningKeys.open(memory(), secrets, times);
    expect(await keys.revoke('made up')).toBe(false);
    const { kid } = keys.signing();
    await keys.revoke(kid);
    const after = kids(keys);
    expect(await keys.revoke(kid)).toBe(true);
    expect(kids(keys)).toEqual(after);
  });

  test('is not used again by a replica that learns of the revocation from the notice or from the store', async () => {
    const store = memory();
    const [one, hears, reads] = [
      await SigningKeys.open(store, secrets, times),
      await SigningKeys.open(store, secrets, times),
      await SigningKeys.open(store, secrets, times),
    ];
    const { kid } = one.signing();
    await one.revoke(kid);
    hears.hearRevoked([kid]);
    expect(kids(hears)).toEqual([]);
    // Both calls of `settled` wait for the new key, and not only the first one.
    await Promise.all(
      [1, 2].map(async () => {
        await hears.settled();
        expect(kids(hears)).toHaveLength(1);
      }),
    );
    await reads.rotate();
    await reads.keepUp();
    pass(1_000);
    for (const keys of [one, hears, reads]) {
      await keys.keepUp();
      expect(kids(keys)).not.toContain(kid);
      expect(keys.signing().kid).toBe(one.signing().kid);
    }
  });

  test('is removed by the next replica if the revoking replica died', async () => {
    const store = memory();
    const { kid } = (await SigningKeys.open(store, secrets, times)).signing();
    await store.revoke(kid, new Date());
    const next = await SigningKeys.open(store, secrets, times);
    expect(next.signing().kid).not.toBe(kid);
    expect(kids(next)).toHaveLength(1);
  });

  test('is replaced by one key if several replicas revoke it at the same time', async () => {
    const store = memory();
    const replicas = await Promise.all([1, 2, 3].map(() => SigningKeys.open(store, secrets, times)));
    const { kid } = (replicas[0] as SigningKeys).signing();
    await Promise.all(replicas.map((keys) => keys.revoke(kid)));
    await Promise.all(replicas.map((keys) => keys.keepUp()));
    expect(new Set(replicas.map((keys) => keys.signing().kid)).size).toBe(1);
    expect(await store.list()).toHaveLength(1);
  });
});
