import { afterEach, describe, expect, it, vi } from 'vitest';
import { KithError, KithNetworkError } from './errors.ts';
import type { SessionAnswer } from './generated/types.ts';
import type { Session } from './session.ts';
import { SessionKeeper } from './session-keeper.ts';
import { memorySession, type SessionStore } from './session-store.ts';

const user = { name: 'Ada' } as Session['user'];
const minute = 60_000;

/** A token that is valid for `seconds`, from a platform whose clock is an hour slow. */
function tokenFor(seconds: number, sub?: string): string {
  const iat = Math.floor(Date.now() / 1000) - 3_600;
  const payload = Buffer.from(JSON.stringify({ sub, iat, exp: iat + seconds, jti: crypto.randomUUID() }));
  return `e30.${payload.toString('base64url')}.x`;
}

const answer = (): SessionAnswer => ({
  success: true,
  accessToken: tokenFor(1_800),
  refreshToken: 'next',
  user,
});
const sessionFor = (ms: number): Session => ({
  accessToken: 'old',
  refreshToken: 'r',
  user,
  expiresAt: Date.now() + ms,
});

function keeperOf(store: SessionStore, refreshBy: () => Promise<SessionAnswer> = async () => answer()) {
  const refreshes: string[] = [];
  const keeper = new SessionKeeper({
    store,
    lockName: undefined,
    refreshBy(refreshToken) {
      refreshes.push(refreshToken);
      return refreshBy();
    },
  });
  return { keeper, refreshes };
}

describe('a session', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('has a lifetime that is counted from its arrival, so a wrong clock does no harm', async () => {
    const { keeper, refreshes } = keeperOf(memorySession());
    const { accessToken } = await keeper.start(answer());
    expect(await keeper.token()).toBe(accessToken);
    expect(refreshes).toEqual([]);
  });

  it('is refreshed according to the expiry time in its token if expiresAt is absent', async () => {
    const { keeper, refreshes } = keeperOf(
      memorySession({ accessToken: tokenFor(60), refreshToken: 'r', user }),
    );
    expect(await keeper.token()).toBe(keeper.current?.accessToken);
    expect(refreshes).toEqual(['r']);
  });

  it('is refreshed soon if the platform has repeated an earlier answer', async () => {
    const { keeper, refreshes } = keeperOf(memorySession());
    // By this machine's clock, the token has expired.
    await keeper.start(answer(), { isReplayed: true });
    await keeper.token();
    expect(refreshes).toEqual(['next']);
  });

  it('of another client is refreshed before it is used if its token has also expired', async () => {
    const kept = memorySession(sessionFor(-1));
    const { keeper, refreshes } = keeperOf(kept);
    await kept.set({ ...sessionFor(-1), accessToken: 'other', refreshToken: 'other' });
    expect(await keeper.token()).toBe(keeper.current?.accessToken);
    expect([refreshes, keeper.current?.refreshToken]).toEqual([['other'], 'next']);
  });

  it('is not replaced in the store by an earlier session that the store writes more slowly', async () => {
    const kept = memorySession(sessionFor(-1));
    const slow = Promise.withResolvers<void>();
    let writes = 0;
    const { keeper } = keeperOf({
      get: kept.get,
      async set(session) {
        if (++writes === 1) await slow.promise;
        await kept.set(session);
      },
    });
    const refreshed = keeper.token();
    await expect.poll(() => writes).toBe(1);
    const started = keeper.start({ ...answer(), refreshToken: 'graces' });
    slow.resolve();
    await Promise.all([refreshed, started]);
    expect(await kept.get()).toMatchObject({ refreshToken: 'graces' });
    expect(keeper.current).toBe(await kept.get());
  });

  it('is still used if it cannot be refreshed, but only until it expires', async () => {
    const away = () => Promise.reject(new KithNetworkError('Away.', { isTimeout: false }));
    const soon = keeperOf(memorySession(sessionFor(20_000)), away);
    expect(await soon.keeper.token()).toBe('old');
    const over = keeperOf(memorySession(sessionFor(-1)), away);
    await expect(over.keeper.token()).rejects.toThrow('Away.');
    expect(over.keeper.current?.accessToken).toBe('old');
  });

  it('does not end because of an answer that is not from the platform', async () => {
    const page = new KithError('A page.', { status: 401, code: 'client/unexpected-answer' });
    const { keeper } = keeperOf(memorySession(sessionFor(-1)), () => Promise.reject(page));
    await expect(keeper.token()).rejects.toBe(page);
    expect(keeper.current?.accessToken).toBe('old');
  });

  it('is not restored by a refresh that was under way when the user signed out', async () => {
    const arrived = Promise.withResolvers<SessionAnswer>();
    const { keeper, refreshes } = keeperOf(memorySession(sessionFor(-1)), () => arrived.promise);
    const token = keeper.token();
    await expect.poll(() => refreshes).toHaveLength(1);
    await keeper.set(null, { reason: 'signed-out' });
    arrived.resolve(answer());
    expect(await token).toBeUndefined();
    expect(keeper.current).toBeNull();
  });

  it('is not restored by a refresh if the event of a sign-out in another tab comes late', async () => {
    const arrived = Promise.withResolvers<SessionAnswer>();
    const kept = memorySession(sessionFor(-1));
    const { keeper, refreshes } = keeperOf(kept, () => arrived.promise);
    const token = keeper.token();
    await expect.poll(() => refreshes).toHaveLength(1);
    await kept.set(null);
    arrived.resolve(answer());
    expect(await token).toBeUndefined();
    expect([keeper.current, await kept.get()]).toEqual([null, null]);
  });

  it('is refreshed even if the store cannot be read any more', async () => {
    const kept = memorySession(sessionFor(-1));
    let reads = 0;
    const get = async () => {
      // The client reads the store at the start and before the refresh.
      if (++reads > 2) throw new Error('The store is away.');
      return kept.get();
    };
    const { keeper } = keeperOf({ get, set: kept.set });
    expect(await keeper.token()).toBe(keeper.current?.accessToken);
    expect(await kept.get()).toMatchObject({ refreshToken: 'next' });
  });

  it.each(['an asynchronous', 'a synchronous'])(
    'is read again at the next call if %s store could not read it',
    async (kind) => {
      const kept = memorySession(sessionFor(10 * minute));
      let failures = 2;
      const read = () => {
        if (failures-- > 0) throw new Error('The store is away.');
        return kept.get();
      };
      const get = kind === 'a synchronous' ? read : async () => read();
      const { keeper } = keeperOf({ get, set: kept.set });
      const told: unknown[] = [];
      keeper.listen((session, { reason }) => told.push([session?.accessToken, reason]));
      await expect(keeper.token()).rejects.toThrow('The store is away.');
      await expect(keeper.token()).rejects.toThrow('The store is away.');
      expect(await keeper.token()).toBe('old');
      expect(told).toEqual([['old', 'set']]);
    },
  );

  it('becomes the current session even if a synchronous store throws when it writes the session', async () => {
    const { keeper } = keeperOf({
      get: () => null,
      set() {
        throw new Error('The store is away.');
      },
    });
    await expect(keeper.start(answer())).rejects.toThrow('The store is away.');
    expect(await keeper.token()).toBe(keeper.current?.accessToken);
  });

  it('from another tab becomes the current session if that tab has stored it during the first reading', async () => {
    const read = Promise.withResolvers<Session | null>();
    const listeners: ((session: Session | null) => void)[] = [];
    const { keeper } = keeperOf({
      get: () => read.promise,
      set: () => {},
      subscribe(listener) {
        listeners.push(listener);
        return () => {};
      },
    });
    const newer = { ...sessionFor(10 * minute), accessToken: 'newer', refreshToken: 'newer' };
    listeners[0]?.(newer);
    read.resolve(sessionFor(10 * minute));
    await keeper.loaded();
    await read.promise;
    expect(keeper.current).toBe(newer);
  });

  it('is passed to all listeners when it changes, even if one throws an error, which is reported as uncaught', async () => {
    const reported: (() => void)[] = [];
    vi.stubGlobal('queueMicrotask', (report: () => void) => reported.push(report));
    const { keeper } = keeperOf(memorySession(sessionFor(10 * minute)));
    const told: unknown[] = [];
    keeper.listen(() => {
      throw new Error('not drawn');
    });
    keeper.listen((session, { reason }) => told.push([session, reason]));
    await keeper.set(null, { reason: 'signed-out' });
    expect(told).toEqual([[null, 'signed-out']]);
    expect(reported).toHaveLength(1);
    expect(reported[0]).toThrow('not drawn');
  });

  it('does not give a waiting call the token of another user who signs in meanwhile', async () => {
    const arrived = Promise.withResolvers<SessionAnswer>();
    const adas = { ...sessionFor(-1), accessToken: tokenFor(0, 'ada') };
    const { keeper, refreshes } = keeperOf(memorySession(adas), () => arrived.promise);
    const token = keeper.token();
    await expect.poll(() => refreshes).toHaveLength(1);
    const graces = { ...sessionFor(10 * minute), accessToken: tokenFor(1_800, 'grace') };
    await keeper.set(graces, { reason: 'signed-in' });
    arrived.resolve(answer());
    expect(await token).toBeUndefined();
    expect(await keeper.token()).toBe(graces.accessToken);
  });

  it('is awaited if the store reads slowly, and ignored if another session was set in the meantime', async () => {
    const slow = () => {
      const read = Promise.withResolvers<Session | null>();
      const { keeper } = keeperOf({ get: () => read.promise, set: () => {} });
      return { keeper, read };
    };
    const first = slow();
    const token = first.keeper.token();
    first.read.resolve(sessionFor(10 * minute));
    expect(await token).toBe('old');

    const second = slow();
    await second.keeper.set(null, { reason: 'signed-out' });
    second.read.resolve(sessionFor(10 * minute));
    await second.read.promise;
    expect(await second.keeper.token()).toBeUndefined();
  });

  it.each(['a refresh', 'a sign-in'])(
    'continues if the store could not write it after %s, and is stored when the store works again',
    async (what) => {
      const kept = memorySession(what === 'a refresh' ? sessionFor(-1) : null);
      let failures = 1;
      const store: SessionStore = {
        get: kept.get,
        async set(session) {
          if (failures-- > 0) throw new Error('The store is away.');
          await kept.set(session);
        },
      };
      let turn = 0;
      // Each session is already expired when it arrives, so that each call refreshes it.
      const next = async () => ({ ...answer(), accessToken: tokenFor(0), refreshToken: `r${++turn}` });
      const { keeper, refreshes } = keeperOf(store, next);
      const first = what === 'a refresh' ? keeper.token() : next().then((given) => keeper.start(given));
      await expect(first).rejects.toThrow('The store is away.');
      expect(await keeper.token()).toBe(keeper.current?.accessToken);
      expect(keeper.current?.refreshToken).toBe('r2');
      expect(refreshes.at(-1)).toBe('r1');
      expect(await store.get()).toBe(keeper.current);
    },
  );

  it.each(['failed', 'not ended'])(
    'that could not be stored is not replaced by a stored session if the first reading of the store had %s',
    async (what) => {
      const adas = { ...sessionFor(10 * minute), accessToken: 'adas', refreshToken: 'adas' };
      const kept = memorySession(adas);
      const reading = Promise.withResolvers<Session | null>();
      let isAway = true;
      const away = () => Promise.reject(new Error('The store is away.'));
      const { keeper, refreshes } = keeperOf({
        get: () => (!isAway ? kept.get() : what === 'failed' ? away() : reading.promise),
        set: (session) => (isAway ? away() : kept.set(session)),
      });
      if (what === 'failed') await expect(keeper.loaded()).rejects.toThrow('The store is away.');
      const graces = { ...answer(), accessToken: tokenFor(0, 'grace'), refreshToken: 'graces' };
      await expect(keeper.start(graces)).rejects.toThrow('The store is away.');
      isAway = false;
      reading.resolve(adas);
      expect(await keeper.token()).toBe(keeper.current?.accessToken);
      expect(refreshes).toEqual(['graces']);
      expect(await kept.get()).toBe(keeper.current);
    },
  );

  it('is replaced by a session that another client has stored, even after a failed write', async () => {
    const kept = memorySession(sessionFor(-1));
    const set = () => Promise.reject(new Error('The store is away.'));
    const { keeper, refreshes } = keeperOf({ get: kept.get, set });
    await expect(keeper.token()).rejects.toThrow('The store is away.');
    const other = { ...sessionFor(10 * minute), accessToken: 'other', refreshToken: 'other' };
    await kept.set(other);
    expect(await keeper.refresh()).toBe(other);
    expect(refreshes).toEqual(['r']);
  });

  it('continues its refresh for other calls when one of the calls that wait for it is aborted', async () => {
    const arrived = Promise.withResolvers<SessionAnswer>();
    const { keeper, refreshes } = keeperOf(memorySession(sessionFor(-1)), () => arrived.promise);
    const controller = new AbortController();
    const aborted = keeper.token(controller.signal);
    const other = keeper.token();
    await expect.poll(() => refreshes).toHaveLength(1);
    controller.abort(new Error('left the page'));
    await expect(aborted).rejects.toThrow('left the page');
    arrived.resolve(answer());
    expect(await other).toBe(keeper.current?.accessToken);
    expect(refreshes).toEqual(['r']);
  });
});
