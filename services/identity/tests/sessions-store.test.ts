import { randomUUID } from 'node:crypto';
import { sessionRevoked, userSuspended } from '@kith/contracts';
import { makeEvent } from '@kith/service';
import { handlerEngines } from '@kith/testing';
import { describe, expect, test, vi } from 'vitest';
import { placeOf } from '../src/listing.ts';
import {
  type IdentityStore,
  revokedPlace,
  type Session,
  suspendedPlace,
  type User,
} from '../src/store/index.ts';
import { userEvent } from '../src/user-events.ts';
import { liveSessions } from './support/sessions.ts';
import { storeForEach } from './support/suite.ts';
import { makeUser } from './support/users.ts';

const hour = 3600_000;
const start = Date.now();

describe.each(handlerEngines())('the store of sessions and keys on %s', (engine) => {
  let store: IdentityStore;

  storeForEach(engine, (opened) => {
    store = opened;
  });

  const session = (fields: Partial<Session> = {}): Session => ({
    sid: randomUUID(),
    projectId: '00000000-0000-4000-8000-00000000000a',
    userId: '00000000-0000-4000-8000-00000000000b',
    familyHash: randomUUID(),
    tokenHash: randomUUID(),
    rotated: null,
    epoch: 0,
    createdAt: new Date(start),
    lastUsedAt: new Date(start),
    expiresAt: new Date(start + hour),
    userAgent: 'Agent ✓',
    ip: '192.0.2.1',
    revokedAt: null,
    ...fields,
  });
  const revocation = (of: Session, at: Date, keepUntil = new Date(start + hour)) => ({
    at,
    keepUntil,
    event: makeEvent(sessionRevoked, {
      projectId: of.projectId,
      actorId: of.userId,
      aggregate: { type: 'session', id: of.sid, seq: 1 },
      data: { sessionId: of.sid, userId: of.userId, reason: 'ended' },
      occurredAt: at,
    }),
  });

  test('finds a session by id and by family, only in its own project', async () => {
    const one = session();
    await store.sessions.add(one);
    const { projectId, userId, sid, familyHash } = one;
    expect(await store.sessions.find(projectId, userId, sid)).toEqual(one);
    expect(await store.sessions.findFamily(projectId, familyHash)).toEqual(one);
    expect(await store.sessions.find(randomUUID(), userId, sid)).toBeNull();
    expect(await store.sessions.find(projectId, randomUUID(), sid)).toBeNull();
    expect(await store.sessions.findFamily(randomUUID(), familyHash)).toBeNull();
    expect(await store.sessions.findFamily(projectId, 'other')).toBeNull();
  });

  test('if a token is rotated many times simultaneously, makes only one rotation', async () => {
    const one = session();
    await store.sessions.add(one);
    const nexts = Array.from({ length: 10 }, (_, index) => ({
      ...one,
      tokenHash: `next-${index}`,
      rotated: { hash: one.tokenHash, sealed: `sealed-${index}` },
      lastUsedAt: new Date(start + 1),
      expiresAt: new Date(start + 2 * hour),
      userAgent: null,
      ip: '192.0.2.2',
    }));
    const outcomes = await Promise.all(nexts.map((next) => store.sessions.rotate(one, next)));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    const stored = await store.sessions.find(one.projectId, one.userId, one.sid);
    expect(stored).toEqual(nexts[outcomes.indexOf(true)]);
  });

  test('measures by the database’s time how long ago a token was rotated', async () => {
    const one = session();
    await store.sessions.add(one);
    const rotated = { hash: one.tokenHash, sealed: '$sealed' };
    const next = { ...one, tokenHash: '$next', rotated, userAgent: '$agent' };
    // Acts as a replica whose clock is an hour slow. The clock is not changed in the embedded form, which has only one process
    // and so only one clock.
    if (engine !== 'embedded') vi.useFakeTimers({ toFake: ['Date'], now: start - hour });
    expect(await store.sessions.rotate(one, next)).toBe(true);
    vi.useRealTimers();
    const stored = await store.sessions.find(one.projectId, one.userId, one.sid);
    expect(stored).toMatchObject({ tokenHash: '$next', userAgent: '$agent', rotated: { sealed: '$sealed' } });
    expect(await store.sessions.rotatedWithin(next, 60_000)).toBe(true);
    expect(await store.sessions.rotatedWithin(next, -60_000)).toBe(false);
    const other = { ...next, rotated: { ...rotated, hash: 'other' } };
    expect(await store.sessions.rotatedWithin(other, 60_000)).toBe(false);
    expect(await store.sessions.rotatedWithin(session(), 60_000)).toBe(false);
  });

  test('does not revoke a session if its valid token has changed since the decision', async () => {
    const one = session();
    await store.sessions.add(one);
    const at = new Date(start);
    const judged = { ...revocation(one, at), judged: 'one before' };
    expect(await store.sessions.revoke(one, judged)).toBe(false);
    expect(await store.outbox.unpublished(10)).toEqual([]);
    expect(await liveSessions(store, one.projectId, one.userId)).toEqual([one]);
    expect(await store.sessions.revoke(one, { ...judged, judged: one.tokenHash })).toBe(true);
  });

  test('revokes a session only once, forgets its device, and does not rotate it any more', async () => {
    const one = session({ rotated: { hash: 'h', sealed: 's' } });
    await store.sessions.add(one);
    const at = new Date(start + 5);
    const revoked = await Promise.all([1, 2, 3].map(() => store.sessions.revoke(one, revocation(one, at))));
    expect(revoked.filter(Boolean)).toHaveLength(1);
    const stored = await store.sessions.findFamily(one.projectId, one.familyHash);
    const gone = { rotated: null, userAgent: null, ip: null };
    expect(stored).toEqual({ ...one, ...gone, revokedAt: at, expiresAt: new Date(start + hour) });
    expect(await store.sessions.rotate(one, { ...one, tokenHash: 'new' })).toBe(false);
    expect(await liveSessions(store, one.projectId, one.userId)).toEqual([]);
    const events = await store.outbox.unpublished(10);
    expect(events.map(({ event }) => event.type)).toEqual(['session.revoked']);
    expect(await store.sessions.revoke(session(), revocation(session(), at))).toBe(false);
  });

  test('lists a user’s open sessions newest first, by page number or from a place', async () => {
    const all = [1, 2, 3, 4, 5].map((age) => session({ createdAt: new Date(start - age) }));
    const others = [session({ userId: randomUUID() }), session({ projectId: randomUUID() })];
    for (const one of [...all, ...others]) await store.sessions.add(one);
    const [, second] = all;
    if (!second) throw new Error('There is none.');
    await store.sessions.revoke(second, revocation(second, new Date(start)));
    const { projectId, userId } = second;
    const list = (from: { skip: number } | { after: string }, at = start) =>
      store.sessions.list({ projectId, userId, at: new Date(at) }, { from, limit: 2 });
    const open = all.filter((one) => one !== second);
    expect(await list({ skip: 0 })).toEqual({ rows: open.slice(0, 2), total: 4 });
    expect(await list({ skip: 2 })).toEqual({ rows: open.slice(2), total: 4 });
    expect(await list({ skip: 4 })).toEqual({ rows: [], total: 4 });
    const last = open[1];
    const after = last ? placeOf({ createdAt: last.createdAt, id: last.sid }) : '';
    expect(await list({ after })).toEqual({ rows: open.slice(2), total: 4 });
    expect(await list({ skip: 0 }, start + 2 * hour)).toEqual({ rows: [], total: 0 });
    expect((await liveSessions(store, projectId, userId)).map(({ sid }) => sid)).toEqual(
      open.map(({ sid }) => sid),
    );
  });

  test('returns revoked sessions in order and in pages', async () => {
    const all = [session(), session({ projectId: randomUUID() }), session()];
    for (const [index, one] of all.entries()) {
      await store.sessions.add(one);
      await store.sessions.revoke(one, revocation(one, new Date(start + index)));
    }
    const sids = async (after: string, limit = 10) =>
      (await store.sessions.revoked(after, limit)).map(({ sid }) => sid);
    expect(await sids(revokedPlace(new Date(start)))).toEqual(all.map(({ sid }) => sid));
    expect(await sids(revokedPlace(new Date(start + 1)))).toEqual(all.slice(1).map(({ sid }) => sid));
    const [first] = await store.sessions.revoked(revokedPlace(new Date(start)), 1);
    expect(first).toEqual({ sid: all[0]?.sid, at: new Date(start), place: expect.any(String) });
    expect(await sids(first?.place ?? '')).toEqual(all.slice(1).map(({ sid }) => sid));
  });

  test('removes a revoked session when it has expired, and keeps its event', async () => {
    const one = session();
    await store.sessions.add(one);
    await store.sessions.revoke(one, revocation(one, new Date(start), new Date(start + 1)));
    await store.outbox.unpublished(10);
    vi.useFakeTimers({ toFake: ['Date'], now: start });
    await store.sweep();
    expect(await store.sessions.find(one.projectId, one.userId, one.sid)).not.toBeNull();
    vi.setSystemTime(start + 2);
    await store.sweep();
    expect(await store.sessions.find(one.projectId, one.userId, one.sid)).toBeNull();
    expect(await store.outbox.unpublished(10)).toHaveLength(1);
  });

  test('if the rev matches, stores a change of the account with its event, and records that the user’s sessions have to end', async () => {
    const user = makeUser();
    await store.users.add(user, userEvent(userSuspended, user));
    const suspended: User = {
      ...user,
      isActive: false,
      suspendedAt: new Date(start),
      sessionEpoch: 1,
      keptSession: 'kept',
      passwordHash: 'other',
      updatedAt: new Date(start),
      rev: 2,
      seq: 2,
    };
    const change = { event: userEvent(userSuspended, suspended, null), ending: 'suspended' as const };
    expect(await store.accounts.update(suspended, change)).toBe('stored');
    expect(await store.accounts.update(suspended, change)).toBe('stale');
    expect(await store.users.find(user.projectId, user.id)).toEqual(suspended);
    expect((await store.outbox.unpublished(10)).map(({ event }) => event.aggregate.seq)).toEqual([1, 2]);
    const ending = { projectId: user.projectId, userId: user.id, epoch: 1, reason: 'suspended' };
    expect(await store.accounts.endings(10)).toEqual([ending]);
    const suspendedSince = (ms: number) => store.accounts.suspended(suspendedPlace(new Date(ms)), 10);
    const listed = { userId: user.id, at: new Date(start), until: null, place: expect.any(String) };
    expect(await suspendedSince(start)).toEqual([listed]);
    expect(await suspendedSince(start + 1)).toEqual([]);

    const restored = { ...suspended, isActive: true, suspendedAt: null, passwordHash: null, rev: 3 };
    expect(await store.accounts.update(restored, { event: null, ending: null })).toBe('stored');
    expect(await store.users.find(user.projectId, user.id)).toEqual(restored);
    expect(await suspendedSince(0)).toEqual([]);
    const again = { ...restored, sessionEpoch: 2, rev: 4 };
    await store.accounts.update(again, { event: null, ending: 'password-changed' });
    await store.accounts.ended({ ...ending, reason: 'suspended' });
    expect(await store.accounts.endings(10)).toEqual([{ ...ending, epoch: 2, reason: 'password-changed' }]);
    await store.accounts.ended({ ...ending, epoch: 2, reason: 'suspended' });
    expect(await store.accounts.endings(10)).toEqual([]);
  });

  test('keeps the first key of an ordinal, lists the newest ordinal first, and replaces and removes keys', async () => {
    const key = (ordinal: number, kid: string) => ({
      ordinal,
      kid,
      publicJwk: { n: 'n', e: 'AQAB' },
      sealed: 'sealed',
      signsFrom: new Date('2026-01-02T03:04:06.000Z'),
      createdAt: new Date('2026-01-02T03:04:05.678Z'),
    });
    expect(await store.keys.list()).toEqual([]);
    await Promise.all([store.keys.add(key(1, 'a')), store.keys.add(key(1, 'b'))]);
    await store.keys.add(key(2, 'c'));
    const keys = await store.keys.list();
    expect(keys).toEqual([key(2, 'c'), key(1, keys[1]?.kid ?? '')]);
    await store.keys.remove({ ordinal: 1, kid: 'another' });
    await store.keys.replace('another', key(2, 'd'));
    expect(await store.keys.list()).toEqual(keys);
    await store.keys.replace('c', key(2, 'd'));
    expect(await store.keys.list()).toEqual([key(2, 'd'), keys[1]]);
    await Promise.all([store.keys.revoke('c', new Date()), store.keys.revoke('c', new Date())]);
    expect(await store.keys.revoked()).toEqual(['c']);
    await store.keys.remove(keys[1]!);
    expect(await store.keys.list()).toEqual([key(2, 'd')]);
  });
});
