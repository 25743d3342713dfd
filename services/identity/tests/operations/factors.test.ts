import { randomBytes } from 'node:crypto';
import { Secrets } from '@kith/base';
import {
  challengePasskey,
  challengeSignIn,
  confirmFactor,
  deleteUser,
  enrolFactor,
  exportUser,
  listFactors,
  removeFactor,
  setPassword,
  signIn,
  stepUp,
} from '@kith/contracts';
import { handlerEngines, SoftwarePasskey, waitFor } from '@kith/testing';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/index.ts';
import { call } from '../support/call.ts';
import { startTestIdentity, type TestIdentity } from '../support/identity.ts';
import { callerOfSession, makeProject, password, signUpUser } from '../support/people.ts';
import { dumpStore } from '../support/raw-store.ts';

const stepMs = 30_000;
type Shown = Parameters<SoftwarePasskey['get']>[0];
/** The secret of `testSecrets`. */
const testSecret = 'the secret that services of suites seal under';

describe.each(handlerEngines())('second factors on %s', (engine) => {
  let identity: TestIdentity;
  let projectId: string;
  let now = Date.parse('2026-03-04T05:06:00.000Z');

  beforeAll(async () => {
    const erasureTimes = { everyMs: 50, settleMs: 100 };
    identity = await startTestIdentity(engine, { now: () => now, erasureTimes });
    projectId = await makeProject(identity.bus);
  });
  afterAll(() => identity[Symbol.asyncDispose]());

  const begin = async (ada: Awaited<ReturnType<typeof signUpUser>>, body: object = { type: 'totp' }) =>
    (await call(identity.bus, enrolFactor, { projectId, caller: callerOfSession(ada), body })).body as {
      id: string;
      secret: string;
      options: Parameters<SoftwarePasskey['create']>[0];
    };
  const withTotp = async () => {
    const ada = await signUpUser(identity.bus, projectId);
    const { id, secret } = await begin(ada);
    const app = new TOTP({ secret: Secret.fromBase32(secret) });
    const codeAt = (steps: number) => app.generate({ timestamp: now + steps * stepMs });
    const caller = callerOfSession(ada);
    const confirmed = await call(identity.bus, confirmFactor, {
      ...{ projectId, caller },
      params: { factorId: id },
      body: { code: codeAt(0) },
    });
    expect(confirmed.status).toBe(200);
    const { email } = ada.user;
    const enter = async (code?: string) => {
      const body = { email, password, ...(code !== undefined && { code }) };
      const answer = await call(identity.bus, signIn, { projectId, body });
      return answer.body.code ?? answer.status;
    };
    return { ada, caller, secret, codeAt, enter, recoveryCodes: confirmed.body.recoveryCodes as string[] };
  };

  test('a code is accepted once, at most one step early or late, and not after a later code', async () => {
    const { codeAt, enter } = await withTotp();
    const invalid = 'auth/invalid-second-factor';
    expect(await enter()).toBe('auth/second-factor-required');
    now += 10 * stepMs;
    expect(await enter(codeAt(-2))).toBe(invalid);
    expect(await enter(codeAt(2))).toBe(invalid);
    expect(await enter(codeAt(-1))).toBe(200);
    expect(await enter(codeAt(-1))).toBe(invalid);
    expect(await enter(codeAt(1))).toBe(200);
    expect(await enter(codeAt(0))).toBe(invalid);
    now += stepMs;
    expect(await enter(codeAt(0))).toBe(invalid);
    expect(await enter(codeAt(1))).toBe(200);
  });

  test('a proof of a step-up is valid for five minutes', async () => {
    const { caller, enter, codeAt } = await withTotp();
    const begun = async () => {
      const answer = await call(identity.bus, enrolFactor, { projectId, caller, body: { type: 'totp' } });
      return answer.body.code ?? answer.status;
    };
    expect(await begun()).toBe('auth/step-up-required');
    await call(identity.bus, stepUp, { projectId, caller, body: { password } });
    expect(await begun()).toBe(201);
    now += 5 * 60_000 - 1;
    expect(await begun()).toBe(201);
    now += 1;
    expect(await begun()).toBe('auth/step-up-required');
    expect(await enter(codeAt(0))).toBe(200);
  });

  test('an enrolment expires after ten minutes, and a sixth enrolment drops the oldest one', async () => {
    const ada = await signUpUser(identity.bus, projectId);
    const caller = callerOfSession(ada);
    const confirm = async ({ id, secret }: { id: string; secret: string }) => {
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: now });
      const of = { projectId, caller, params: { factorId: id } };
      const answer = await call(identity.bus, confirmFactor, { ...of, body: { code } });
      return answer.body.code ?? answer.status;
    };
    const early = await begin(ada);
    now += 10 * 60_000;
    expect(await confirm(early)).toBe('auth/factor-not-found');
    const some = [];
    for (let count = 0; count < 6; count++) some.push(await begin(ada));
    expect(await confirm(some[0]!)).toBe('auth/factor-not-found');
    expect(await confirm(some[1]!)).toBe(200);
  });

  test('challenges for other sign-ins and in other sessions do not replace a passkey’s challenge', async () => {
    const ada = await signUpUser(identity.bus, projectId);
    const { email } = ada.user;
    const rpId = 'localhost';
    const { id: factorId, options } = await begin(ada, { type: 'passkey', rpId });
    const passkey = new SoftwarePasskey('http://localhost:5173');
    const of = { projectId, caller: callerOfSession(ada) };
    const confirm = { ...of, params: { factorId }, body: { passkey: passkey.create(options) } };
    expect((await call(identity.bus, confirmFactor, confirm)).status).toBe(200);
    const forSignIn = async () =>
      (await call(identity.bus, challengeSignIn, { projectId, body: { email, password, rpId } })).body;
    const forSession = async (caller: typeof of.caller) =>
      (await call(identity.bus, challengePasskey, { projectId, caller, body: { rpId } })).body;
    const enter = (request: Shown) =>
      call(identity.bus, signIn, { projectId, body: { email, password, passkey: passkey.get(request) } });
    const prove = async (request: Shown) =>
      (await call(identity.bus, stepUp, { ...of, body: { passkey: passkey.get(request) } })).status;

    const inSession = [];
    for (let count = 0; count < 6; count++) inSession.push(await forSession(of.caller));
    const request = await forSignIn();
    for (let count = 0; count < 20; count++) await forSignIn();
    const second = await enter(request);
    expect(second.status).toBe(200);
    for (let count = 0; count < 5; count++) await forSession(callerOfSession(second.body));
    expect(await prove(inSession[0])).toBe(401);
    expect(await prove(inSession[1])).toBe(200);
  });

  test('no factor is confirmed for a deleted account', async () => {
    const ada = await signUpUser(identity.bus, projectId);
    const { id: factorId } = await begin(ada);
    const of = { projectId, caller: callerOfSession(ada) };
    expect((await call(identity.bus, deleteUser, { ...of, params: { userId: ada.user.id } })).status).toBe(
      204,
    );
    const body = { code: '000000' };
    const late = await call(identity.bus, confirmFactor, { ...of, params: { factorId }, body });
    expect([late.status, late.body.code]).toEqual([401, 'auth/unauthorized']);
  });

  test('a new password does not remove the factors', async () => {
    const { ada, enter, recoveryCodes } = await withTotp();
    const params = { projectId, userId: ada.user.id };
    const set = await call(identity.bus, setPassword, { params, body: { password } });
    expect(set.status).toBe(200);
    expect(await enter()).toBe('auth/second-factor-required');
    expect(await enter(recoveryCodes[9])).toBe(200);
  });

  test('every secret is stored sealed or hashed, none is exported, and all are erased with the account', async () => {
    const { ada, caller, secret, recoveryCodes } = await withTotp();
    await call(identity.bus, stepUp, { projectId, caller, body: { password } });
    const { id, options } = await begin(ada, { type: 'passkey', rpId: 'localhost' });
    const passkey = new SoftwarePasskey('http://localhost:5173').create(options);
    const of = { projectId, caller };
    const confirm = { ...of, params: { factorId: id }, body: { passkey } };
    expect((await call(identity.bus, confirmFactor, confirm)).status).toBe(200);
    const userId = ada.user.id;
    const exported = await call(identity.bus, exportUser, { ...of, params: { userId } });
    expect(exported.body).toMatchObject({ factors: [{ type: 'totp' }, { type: 'passkey' }] });
    const stored = async () => JSON.stringify((await dumpStore(identity.store)).factors);
    const kept = await stored();
    expect(kept).toContain(passkey.id);
    for (const one of [secret, ...recoveryCodes, options.challenge]) {
      expect(kept).not.toContain(one);
      expect(exported.text).not.toContain(one);
    }
    expect(exported.text).not.toContain(passkey.id);
    expect((await call(identity.bus, deleteUser, { ...of, params: { userId } })).status).toBe(204);
    await waitFor(async () => !(await stored()).includes(userId) && !(await stored()).includes(passkey.id));
  });

  test('if no mail can be sent, no notice of a change is stored', async () => {
    await withTotp();
    expect((await dumpStore(identity.store)).factorNotices).toEqual([]);
  });

  test('the secrets are sealed again with all other sealed values', async () => {
    const { ada, secret } = await withTotp();
    const store = await openStore(identity.store);
    const changed = new Secrets('the secret after a change of it', [testSecret]);
    await store.reseal(changed);
    const { factors } = await store.factors.find({ projectId, userId: ada.user.id });
    const [factor] = factors;
    const sealed = factor?.type === 'totp' ? factor.sealed : '';
    expect(changed.isCurrent(sealed)).toBe(true);
    expect(changed.open('totp', sealed, ada.user.id).toString()).toBe(secret);
    expect(() => changed.open('totp', sealed, 'another')).toThrow();
    // The other tests of this suite use a service that knows only the old secret. So everything is sealed under the old secret
    // again.
    await store.reseal(new Secrets(testSecret, ['the secret after a change of it']));
    await store.close();
  });

  test('an unfinished enrolment is not listed, and an unknown factor cannot be removed', async () => {
    const ada = await signUpUser(identity.bus, projectId);
    const caller = callerOfSession(ada);
    await begin(ada);
    const list = async () => (await call(identity.bus, listFactors, { projectId, caller })).body;
    expect(await list()).toEqual({ factors: [], recoveryCodesLeft: 0 });
    const params = { factorId: randomBytes(16).toString('hex') };
    const removed = await call(identity.bus, removeFactor, { projectId, caller, params });
    expect(removed.body.code).toBe('auth/factor-not-found');
  });
});
