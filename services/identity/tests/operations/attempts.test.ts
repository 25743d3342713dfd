import { changePassword, deleteUser, setPassword, signIn } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { call } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { callerOfSession, makeProject, password, signUpUser } from '../support/people.ts';
import { dumpStore } from '../support/raw-store.ts';

const hours = 3600_000;
const home = '192.0.2.1';

describe.each(handlerEngines())('failed attempts on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  let count = 0;
  let ahead = 0;

  beforeAll(async () => {
    identity = await startTestIdentity(engine, {
      now: () => Date.now() + ahead,
      erasureTimes: { everyMs: 50 },
    });
    projectId = await makeProject(identity.bus);
  });
  afterAll(() => identity[Symbol.asyncDispose]());
  beforeEach(() => {
    ahead = 0;
  });

  /** A client that nobody has seen before. */
  const stranger = () => `198.51.100.${++count}`;
  const signUp = () => signUpUser(identity.bus, projectId);
  const trySignIn = async (email: string, given: string, clientIp = stranger()) => {
    const answer = await call(identity.bus, signIn, {
      projectId,
      body: { email, password: given },
      clientIp,
    });
    return {
      status: answer.status,
      code: answer.body.code,
      wait: Number(answer.headers['Retry-After'] ?? 0),
    };
  };
  const fail = async (email: string, times: number, clientIp?: string) => {
    const codes: string[] = [];
    for (let at = 0; at < times; at++) codes.push((await trySignIn(email, 'wrong', clientIp)).code);
    return codes;
  };
  const repeated = (code: string, times: number) => Array(times).fill(code);
  const wrong = 'auth/invalid-credentials';
  const tooMany = 'auth/too-many-attempts';

  test('sixty strangers together get ten guesses; the user can sign in from a known client', async () => {
    const { user } = await signUp();
    expect(await fail(user.email, 60)).toEqual([...repeated(wrong, 10), ...repeated(tooMany, 50)]);
    expect((await trySignIn(user.email, password)).code).toBe(tooMany);
    expect((await trySignIn(user.email, password, home)).status).toBe(200);
    // The user may sign in, but strangers still have to wait.
    expect((await trySignIn(user.email, password)).code).toBe(tooMany);
    ahead = 24 * hours;
    expect((await trySignIn(user.email, password)).status).toBe(200);
  });

  test('the answers are the same for an address that nobody has', async () => {
    expect(await fail('nobody@example.org', 11)).toEqual([...repeated(wrong, 10), tooMany]);
    const { wait } = await trySignIn('nobody@example.org', 'wrong');
    expect([29, 30]).toContain(wait);
    const elsewhere = await makeProject(identity.bus);
    const body = { email: 'nobody@example.org', password: 'wrong' };
    expect((await call(identity.bus, signIn, { projectId: elsewhere, body })).body.code).toBe(wrong);
  });

  test('a wrong password in change-password counts as a failure, even in a request with an idempotency key', async () => {
    const session = await signUp();
    const { email } = session.user;
    const change = (at: number, clientIp?: string) =>
      call(identity.bus, changePassword, {
        projectId,
        caller: callerOfSession(session),
        body: { password: 'wrong', newPassword: 'another good one' },
        clientIp: clientIp ?? stranger(),
        ...(at % 2 === 0 ? { idempotencyKey: `key-${at}` } : {}),
      });
    for (let at = 0; at < 10; at++) expect((await change(at)).body.code).toBe(wrong);
    const refused = await change(11);
    expect([refused.status, refused.body.code]).toEqual([429, tooMany]);
    expect(Number(refused.headers['Retry-After'])).toBeGreaterThan(0);
    expect((await trySignIn(email, password)).code).toBe(tooMany);
    expect((await change(12, home)).body.code).toBe(wrong);
  });

  test('when an operator sets the password, nobody has to wait any more', async () => {
    const { user } = await signUp();
    await fail(user.email, 10);
    const params = { projectId, userId: user.id };
    const body = { password: 'told by the operator' };
    expect((await call(identity.bus, setPassword, { params, body })).status).toBe(200);
    expect((await trySignIn(user.email, body.password)).status).toBe(200);
  });

  test('addresses and clients are stored only as hashes, and their rows are removed with the user', async () => {
    const session = await signUp();
    const { id: userId, email } = session.user;
    await fail(email, 1, home);
    await fail(email, 1, '198.51.100.251');
    const rows = async () =>
      (await dumpStore(identity.store)).attempts?.filter((row) => JSON.stringify(row).includes(userId)) ?? [];
    const stored = JSON.stringify((await dumpStore(identity.store)).attempts);
    expect(await rows()).toHaveLength(1);
    for (const text of [email, home, '198.51.100.251']) expect(stored).not.toContain(text);
    const count = async () => (await dumpStore(identity.store)).attempts?.length ?? 0;
    const before = await count();
    const caller = callerOfSession(session);
    await call(identity.bus, deleteUser, { projectId, params: { userId }, caller });
    await waitFor(async () => (await rows()).length === 0, { what: 'the clients to be forgotten' });
    // The row of the address is gone, too.
    expect(await count()).toBe(before - 2);
  });
});
