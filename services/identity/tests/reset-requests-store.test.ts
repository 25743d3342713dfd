import { Secrets } from '@kith/base';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test } from 'vitest';
import { type IdentityStore, sealedFor } from '../src/store/index.ts';
import { storeForEach } from './support/suite.ts';

describe.each(handlerEngines())('requested password resets in the store on %s', (engine) => {
  let store: IdentityStore;
  storeForEach(engine, (opened) => {
    store = opened;
  });

  const address = 'ada@example.org';
  const [lost, first, second, third] = ['lost', 'first', 'second', 'third'].map(
    (one) => `the ${one} secret of this suite`,
  ) as [string, string, string, string];
  const add = (id: string, secret: string) =>
    store.resetRequests.add(id, new Secrets(secret).seal(sealedFor.address, address, id));

  test('are sealed again at each change of the secret, except for those that cannot be opened', async () => {
    await add('a|1', lost);
    await add('b|2', first);
    for (const [from, to] of [
      [first, second],
      [second, third],
    ] as const) {
      const done = await store.reseal(new Secrets(to, [from]));
      expect(done).toEqual({ sealed: 2, anew: 1, left: 0, unreadable: 1 });
    }
    const [one, other] = await store.resetRequests.some(10);
    expect(() => new Secrets(third).open(sealedFor.address, one!.sealed, one!.id)).toThrow();
    expect(new Secrets(third).open(sealedFor.address, other!.sealed, other!.id).toString()).toBe(address);
  });

  test('the change of the secret stops if a value is needed and cannot be opened', async () => {
    await store.hashKeys.add(new Secrets(lost).seal(sealedFor.hashing, 'key', store.hashKeys.id));
    await expect(store.reseal(new Secrets(second, [first]))).rejects.toThrow('KITH_SECRET');
  });
});
