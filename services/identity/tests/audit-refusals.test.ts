import { randomUUID } from 'node:crypto';
import { ApiError } from '@kith/base';
import {
  confirmFactor,
  enrolFactor,
  listAudit,
  signIn,
  suspendUser,
  updateProject,
  verifyExternalUser,
} from '@kith/contracts';
import { handlerEngines } from '@kith/testing';
import { exportSPKI, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Authenticator } from '../../../tests/support/authenticator.ts';
import { ErasedExternals } from '../src/erased-externals.ts';
import { Sessions } from '../src/store/sessions.ts';
import { Users } from '../src/store/users.ts';
import { call } from './support/call.ts';
import { startTestIdentity, type TestIdentity } from './support/identity.ts';
import { startMailServer } from './support/mail-server.ts';
import { callerOfSession, makeProject, password, signUpUser } from './support/people.ts';

describe.each(handlerEngines())('a refused sign-in leaves no success in the audit log (%s)', (engine) => {
  const undo = new AsyncDisposableStack();
  let identity: TestIdentity;
  let projectId: string;
  beforeAll(async () => {
    const { url: smtpUrl } = undo.use(await startMailServer());
    const mails = { smtpUrl, from: 'no-reply@kith.example' };
    identity = undo.use(await startTestIdentity(engine, { mails, sweepEveryMs: 3600_000 }));
    projectId = await makeProject(identity.bus);
  });
  afterAll(() => undo.disposeAsync());

  const update = (body: unknown) => call(identity.bus, updateProject, { params: { projectId }, body });
  const enter = (email: string, fields = {}) =>
    call(identity.bus, signIn, { projectId, body: { email, password, ...fields } });
  const outcomes = async ({ name: action }: { name: string }, actor?: string) => {
    const query = String(new URLSearchParams({ projectId, action, ...(actor && { actor }) }));
    const { body } = await call(identity.bus, listAudit, { query });
    return (body.data as { outcome: string }[]).map(({ outcome }) => outcome).sort();
  };
  const withFactor = async () => {
    const session = await signUpUser(identity.bus, projectId);
    const of = { projectId, caller: callerOfSession(session) };
    const { id, secret } = (await call(identity.bus, enrolFactor, { ...of, body: { type: 'totp' } })).body;
    const authenticator = new Authenticator(secret as string);
    const params = { factorId: id as string };
    const confirming = { ...of, params, body: { code: authenticator.next() } };
    expect((await call(identity.bus, confirmFactor, confirming)).status).toBe(200);
    return { ...session.user, authenticator };
  };

  test('a sign-in that sends the mail that verifies the address', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    await update({ requireVerifiedEmail: true });
    expect((await enter(user.email)).body.code).toBe('auth/email-not-verified');
    await update({ requireVerifiedEmail: false });
    expect(await outcomes(signIn, user.id)).toEqual(['auth/email-not-verified']);
  });

  test('a sign-in that ends a suspension whose time is over', async () => {
    const { id, email } = await withFactor();
    const params = { projectId, userId: id };
    const body = { until: new Date(Date.now() + 60_000).toISOString() };
    expect((await call(identity.bus, suspendUser, { params, body })).status).toBe(200);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 });
    try {
      expect((await enter(email)).body.code).toBe('auth/second-factor-required');
    } finally {
      vi.useRealTimers();
    }
    expect(await outcomes(signIn, id)).toEqual(['auth/second-factor-required']);
  });

  test('a sign-in that uses up a second factor, which stays used up', async () => {
    const { id, email, authenticator } = await withFactor();
    const code = authenticator.next();
    vi.spyOn(Users.prototype, 'touch').mockRejectedValueOnce(new ApiError('auth/suspended'));
    expect((await enter(email, { code })).body.code).toBe('auth/suspended');
    expect(await outcomes(signIn, id)).toEqual(['auth/suspended']);
    expect((await enter(email, { code })).body.code).toBe('auth/invalid-second-factor');
  });

  test('a sign-in whose external user was erased meanwhile', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256');
    await update({ publicKey: await exportSPKI(publicKey) });
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: projectId, aud: 'kith.dev', sub: randomUUID(), iat: now, exp: now + 300 };
    const userJwt = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
    const spy = vi.spyOn(ErasedExternals.prototype, 'refuses');
    spy.mockResolvedValueOnce(false).mockResolvedValueOnce(true);
    const answer = await call(identity.bus, verifyExternalUser, { projectId, body: { userJwt } });
    expect(answer.body.code).toBe('auth/invalid-token');
    expect(await outcomes(verifyExternalUser)).toEqual(['auth/invalid-token']);
  });

  test('a sign-in whose user is suspended while the session is being opened', async () => {
    const { user } = await signUpUser(identity.bus, projectId);
    const { add } = Sessions.prototype;
    vi.spyOn(Sessions.prototype, 'add').mockImplementationOnce(async function (this: Sessions, ...given) {
      await add.apply(this, given);
      await call(identity.bus, suspendUser, { params: { projectId, userId: user.id }, body: {} });
    });
    expect((await enter(user.email)).body.code).toBe('auth/suspended');
    expect(await outcomes(signIn, user.id)).toEqual(['auth/suspended']);
  });

  test('for comparison, an accepted sign-in leaves one success', async () => {
    const { id, email, authenticator } = await withFactor();
    expect((await enter(email, { code: authenticator.next() })).status).toBe(200);
    expect(await outcomes(signIn, id)).toEqual(['success']);
  });
});
