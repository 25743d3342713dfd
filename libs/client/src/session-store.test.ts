import { afterEach, describe, expect, it } from 'vitest';
import type { Session } from './session.ts';
import { localStorageSession } from './session-store.ts';

const session = { accessToken: 'a', refreshToken: 'r', user: { name: 'Ada' } } as Session;
const older = { ...session, refreshToken: 'older' };

/** Sets up a Web Storage that can be made full. */
function storage(entries: Record<string, string> = {}): { isFull: boolean; entries: Map<string, string> } {
  const state = { isFull: false, entries: new Map(Object.entries(entries)) };
  const localStorage = {
    getItem: (key: string) => state.entries.get(key) ?? null,
    setItem(key: string, value: string) {
      if (state.isFull) throw new Error('QuotaExceededError');
      state.entries.set(key, value);
    },
    removeItem: (key: string) => state.entries.delete(key),
  };
  Object.defineProperty(globalThis, 'localStorage', { value: localStorage, configurable: true });
  return state;
}

describe('a session in localStorage', () => {
  afterEach(() => {
    Reflect.deleteProperty(globalThis, 'localStorage');
  });

  it('is still stored at the next visit, and is removed when it is set to null', () => {
    const { entries } = storage();
    localStorageSession('kith').set(session);
    expect(localStorageSession('kith').get()).toEqual(session);
    expect(localStorageSession('other').get()).toBeNull();
    localStorageSession('kith').set(null);
    expect([localStorageSession('kith').get(), entries.size]).toEqual([null, 0]);
  });

  it.each(['', 'no JSON', '5', 'null', '{"accessToken":1}', '[]'])('is null if %j is stored', (text) => {
    storage({ kith: text });
    expect(localStorageSession('kith').get()).toBeNull();
  });

  it('is replaced by a newer session in memory if the storage is full', () => {
    const state = storage();
    const store = localStorageSession('kith');
    store.set(older);
    state.isFull = true;
    store.set(session);
    expect(store.get()).toEqual(session);
    // The next visit must not begin with the older session, whose refresh token is used up.
    expect(localStorageSession('kith').get()).toBeNull();
    state.isFull = false;
    store.set(older);
    expect([store.get(), localStorageSession('kith').get()]).toEqual([older, older]);
  });

  it('in memory is replaced by a session that another tab has stored after the storage was full', () => {
    const state = storage();
    let changed: (event: object) => void = () => {};
    const addEventListener = (_: string, listener: typeof changed) => {
      changed = listener;
    };
    Object.defineProperty(globalThis, 'addEventListener', { value: addEventListener, configurable: true });
    const store = localStorageSession('kith');
    const told: unknown[] = [];
    store.subscribe?.((stored) => told.push(stored));
    Reflect.deleteProperty(globalThis, 'addEventListener');
    state.isFull = true;
    store.set(older);
    state.isFull = false;
    // This event comes late: the session that it reports was removed when the storage was full.
    changed({ key: 'kith' });
    state.entries.set('kith', JSON.stringify(session));
    changed({ key: 'kith' });
    expect(told).toEqual([older, session]);
    expect(store.get()).toEqual(session);
  });

  it('is kept in memory if there is no storage, or if the storage is forbidden', () => {
    const store = localStorageSession('kith');
    store.set(session);
    expect(store.get()).toEqual(session);
    const refuse = () => {
      throw new Error('SecurityError');
    };
    Object.defineProperty(globalThis, 'localStorage', { get: refuse, configurable: true });
    const other = localStorageSession('kith');
    expect(other.get()).toBeNull();
    other.set(session);
    expect(other.get()).toEqual(session);
  });
});
