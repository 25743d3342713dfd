import { randomUUID } from 'node:crypto';
import {
  challengePasskey,
  challengeSignIn,
  changePassword,
  confirmFactor,
  deleteUser,
  enrolFactor,
  exportUser,
  listFactors,
  type OutputOf,
  removeFactor,
  removeUserFactors,
  renewRecoveryCodes,
  signIn,
  signUp,
  stepUp,
  suspendUser,
  updateProject,
  verifyEmail,
} from '@kith/contracts';
import { SoftwarePasskey, type TestUser } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { Authenticator } from '../support/authenticator.ts';
import { keyPair } from '../support/keys.ts';
import { mailTo, tokenIn } from '../support/mails.ts';
import { externalUser } from '../support/surface/external-user.ts';
import { operatorKey, refusesStrangers, refusesUnknown } from '../support/surface/guards.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';

const origin = 'https://app.example.org';
const rpId = 'app.example.org';
type Begun<Type> = Extract<OutputOf<typeof enrolFactor>, { type: Type }>;

export const factors = surfaceSuite('factors', (world) => {
  const noFactor = randomUUID();
  const of = (factorId: string) => ({ params: { factorId } });
  const as = ({ accessToken: token }: TestUser) => ({ token });

  beforeAll(async () => {
    const { projectId, operatorToken: token } = world;
    await world.ok(updateProject, { params: { projectId }, token, body: { webOrigins: [origin] } });
  });

  const begin = async <Type extends 'totp' | 'passkey'>(user: TestUser, type: Type, name?: string) => {
    const body = { type, name, ...(type === 'passkey' && { rpId }) };
    return (await world.ok(enrolFactor, { ...as(user), body })).body as Begun<Type>;
  };
  /** Enrols an authenticator app. */
  const withTotp = async (user: TestUser) => {
    const { id, secret } = await begin(user, 'totp', 'Phone');
    const app = new Authenticator(secret);
    const { body } = await world.ok(confirmFactor, { ...as(user), ...of(id), body: { code: app.next() } });
    return { id, app, recoveryCodes: body.recoveryCodes ?? [] };
  };
  /** Enrols a passkey. */
  const withPasskey = async (user: TestUser) => {
    const { id, options } = await begin(user, 'passkey');
    const passkey = new SoftwarePasskey(origin);
    const body = { passkey: passkey.create(options) };
    const confirmed = await world.ok(confirmFactor, { ...as(user), ...of(id), body });
    return { id, passkey, recoveryCodes: confirmed.body.recoveryCodes ?? [] };
  };
  const prove = (user: TestUser) => world.ok(stepUp, { ...as(user), body: { password: user.password } });
  const credentials = ({ email, password }: TestUser) => ({ email, password });
  const malformed = [
    ['code', 7],
    ['code', ''],
    ['code', 'x'.repeat(65)],
    ['passkey', 'nonsense'],
  ] as const;

  it('every operation that needs a token checks it before all else', async () => {
    await refusesStrangers(world, features.factors.operations);
    await refusesUnknown(world, removeUserFactors);
  });

  it('a user without second factors has an empty list, and is never asked for a factor', async () => {
    const ada = await world.user();
    expect((await world.ok(listFactors, as(ada))).body).toEqual({ factors: [], recoveryCodesLeft: 0 });
    await world.ok(signIn, { body: credentials(ada) });
    await world.refused(renewRecoveryCodes, as(ada), 'auth/factor-not-found');
    await world.refused(removeFactor, { ...as(ada), ...of(noFactor) }, 'auth/factor-not-found');
    await world.refused(removeFactor, { ...as(ada), ...of('nonsense') }, 'auth/factor-not-found');
    await world.refused(challengePasskey, { ...as(ada), body: { rpId } }, 'auth/factor-not-found');
    const params = { userId: ada.id };
    const exported = await world.ok(exportUser, { ...as(ada), params });
    expect(exported.body).toMatchObject({ factors: [], recoveryCodesLeft: 0 });
    await world.ok(deleteUser, { ...as(ada), params });
  });

  it('TOTP is enrolled, confirmed once, and then required at sign-in', async () => {
    const ada = await world.user();
    for (const [field, value] of [
      ['type', 'sms'],
      ['type', undefined],
      ['name', 7],
      ['name', 'x'.repeat(61)],
      ['rpId', 'no host'],
      ['rpId', 7],
    ] as const) {
      const body = { type: 'totp', [field]: value };
      await world.refused(enrolFactor, { ...as(ada), body }, 'auth/invalid-body', { field });
    }
    const begun = await begin(ada, 'totp', '  Phone ');
    expect(begun).toEqual({
      id: expect.any(String),
      type: 'totp',
      name: 'Phone',
      expiresAt: expect.any(String),
      secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
      url: expect.stringMatching(/^otpauth:\/\/totp\//),
    });
    expect((await world.ok(listFactors, as(ada))).body.factors).toEqual([]);
    await world.ok(signIn, { body: credentials(ada) });

    const app = new Authenticator(begun.secret);
    const confirm = { ...as(ada), ...of(begun.id) };
    for (const [field, value] of malformed) {
      await world.refused(confirmFactor, { ...confirm, body: { [field]: value } }, 'auth/invalid-body', {
        field,
      });
    }
    await world.refused(confirmFactor, confirm, 'auth/invalid-body', { field: 'code' });
    for (const wrong of ['12345', '１２３４５６']) {
      const given = { ...confirm, body: { code: wrong } };
      await world.refused(confirmFactor, given, 'auth/invalid-second-factor', { field: 'code' });
    }
    for (const id of [noFactor, 'nonsense']) {
      const given = { ...as(ada), ...of(id), body: { code: '123456' } };
      await world.refused(confirmFactor, given, 'auth/factor-not-found');
    }
    const code = app.next();
    const { body } = await world.ok(confirmFactor, { ...confirm, body: { code } });
    const shown = { id: begun.id, type: 'totp', name: 'Phone', lastUsedAt: null };
    expect(body).toEqual({
      factor: { ...shown, createdAt: expect.any(String) },
      recoveryCodes: Array(10).fill(expect.stringMatching(/^([A-Z2-7]{6}-){3}[A-Z2-7]{6}$/)),
    });
    const list = (await world.ok(listFactors, as(ada))).body;
    expect(list).toEqual({ factors: [body.factor], recoveryCodesLeft: 10 });

    const given = credentials(ada);
    await world.refused(signIn, { body: given }, 'auth/second-factor-required', { field: 'code' });
    const other = { ...given, password: 'wrong password', code: '123456' };
    await world.refused(signIn, { body: other }, 'auth/invalid-credentials');
    for (const [field, value] of malformed) {
      await world.refused(signIn, { body: { ...given, [field]: value } }, 'auth/invalid-body', { field });
    }
    for (const bad of ['123', code, 'AAAAAA-AAAAAA-AAAAAA-AAAAAA']) {
      const answer = { body: { ...given, code: bad } };
      await world.refused(signIn, answer, 'auth/invalid-second-factor', { field: 'code' });
    }
    const last = { body: { ...given, code: app.next() } };
    await world.ok(signIn, last);
    await world.refused(signIn, last, 'auth/invalid-second-factor', { field: 'code' });
    expect((await world.ok(listFactors, as(ada))).body.factors[0]?.lastUsedAt).toEqual(expect.any(String));
  });

  it('of eight simultaneous sign-ins with the same code or passkey, exactly one opens a session', async () => {
    const sevenAreRefused = async (user: TestUser, shown: { code?: string; passkey?: unknown }) => {
      const [field] = Object.keys(shown);
      const refusal = { field: field ?? '' };
      const given = { body: { ...credentials(user), ...shown } };
      expect(await world.eightAtOnce(signIn, given, 'auth/invalid-second-factor', refusal)).toBe(7);
    };
    const [ada, grace, joan] = [await world.user(), await world.user(), await world.user()];
    await sevenAreRefused(ada, { code: (await withTotp(ada)).app.next() });
    await sevenAreRefused(grace, { code: (await withTotp(grace)).recoveryCodes[0] ?? '' });
    const { passkey } = await withPasskey(joan);
    const request = (await world.ok(challengeSignIn, { body: { ...credentials(joan), rpId } })).body;
    await sevenAreRefused(joan, { passkey: passkey.get(request) });
  });

  it('wrong codes are limited like wrong passwords, but counted separately', async () => {
    const ada = await world.user();
    await withPasskey(ada);
    const code = 'wrong';
    for (let count = 0; count < 5; count++) {
      await world.refused(signIn, { body: { ...credentials(ada), code } }, 'auth/invalid-second-factor', {
        field: 'code',
      });
      await world.refused(stepUp, { ...as(ada), body: { code } }, 'auth/invalid-second-factor', {
        field: 'code',
      });
    }
    await world.refused(signIn, { body: { ...credentials(ada), code } }, 'auth/too-many-attempts');
    await world.refused(stepUp, { ...as(ada), body: { code } }, 'auth/too-many-attempts');
    await world.ok(stepUp, { ...as(ada), body: { password: ada.password } });
    const wrong = { email: ada.email, password: 'wrong password' };
    for (let nth = 0; nth < 10; nth++)
      await world.refused(signIn, { body: wrong }, 'auth/invalid-credentials');
    await world.refused(challengeSignIn, { body: { ...credentials(ada), rpId } }, 'auth/too-many-attempts');
  });

  it('a recovery code works once, in any spelling, and new codes replace the old codes', async () => {
    const ada = await world.user();
    const { recoveryCodes } = await withTotp(ada);
    const [first = '', second = ''] = recoveryCodes;
    const signInWith = (code: string) => ({ body: { ...credentials(ada), code } });
    await world.ok(signIn, signInWith(` ${first.toLowerCase().replaceAll('-', ' ')} `));
    await world.refused(signIn, signInWith(first), 'auth/invalid-second-factor', { field: 'code' });
    expect((await world.ok(listFactors, as(ada))).body.recoveryCodesLeft).toBe(9);
    await world.refused(renewRecoveryCodes, as(ada), 'auth/step-up-required');
    await prove(ada);
    const { body } = await world.ok(renewRecoveryCodes, as(ada));
    expect(new Set([...recoveryCodes, ...body.recoveryCodes]).size).toBe(20);
    await world.refused(signIn, signInWith(second), 'auth/invalid-second-factor', { field: 'code' });
    await world.ok(signIn, signInWith(body.recoveryCodes[0] ?? ''));
  });

  it('a passkey can be enrolled for a host of the project’s web origins, and used to sign in', async () => {
    const ada = await world.user();
    for (const wrong of [undefined, 'example.net', 'other.example.org', 'org', 'localhost']) {
      const body = { type: 'passkey', rpId: wrong };
      await world.refused(enrolFactor, { ...as(ada), body }, 'auth/invalid-rp-id', { field: 'rpId' });
    }
    const above = { type: 'passkey', rpId: 'Example.org' };
    const { body: begunAbove } = await world.ok(enrolFactor, { ...as(ada), body: above });
    expect(begunAbove).toMatchObject({ options: { rp: { id: 'example.org', name: 'Surface' } } });
    const { id, options } = await begin(ada, 'passkey', 'Laptop');
    expect(options).toMatchObject({
      user: { name: ada.email },
      pubKeyCredParams: [{ alg: -7 }, { alg: -257 }],
      authenticatorSelection: { userVerification: 'required' },
    });
    const passkey = new SoftwarePasskey(origin);
    const confirm = { ...as(ada), ...of(id) };
    await world.refused(confirmFactor, confirm, 'auth/invalid-body', { field: 'passkey' });
    const wrong = [
      new SoftwarePasskey('https://app.example.net').create(options),
      passkey.create(options, { challenge: 'AAAA' }),
      passkey.create(options, { rpId: 'example.org' }),
      passkey.create(options, { type: 'webauthn.get' }),
      passkey.create(options, { isUnverified: true }),
      {
        ...passkey.create(options),
        id: 'AAAA',
        response: { ...passkey.create(options).response, publicKey: 'AAAA' },
      },
      {
        ...passkey.create(options),
        response: { ...passkey.create(options).response, publicKeyAlgorithm: -8 },
      },
    ];
    for (const made of wrong) {
      const given = { ...confirm, body: { passkey: made } };
      await world.refused(confirmFactor, given, 'auth/invalid-second-factor', { field: 'passkey' });
    }
    const made = { passkey: passkey.create(options) };
    const { body } = await world.ok(confirmFactor, { ...confirm, body: made });
    expect([body.factor.type, body.recoveryCodes?.length]).toEqual(['passkey', 10]);
    await world.refused(confirmFactor, { ...confirm, body: made }, 'auth/step-up-required');

    for (const field of ['email', 'password', 'rpId']) {
      const given = { ...credentials(ada), rpId, [field]: 7 };
      await world.refused(challengeSignIn, { body: given }, 'auth/invalid-body', { field });
    }
    const asked = { ...credentials(ada), rpId };
    const nowhere = { projectId: randomUUID(), body: asked };
    await world.refused(challengeSignIn, nowhere, 'project/not-found');
    const password = 'wrong password';
    await world.refused(challengeSignIn, { body: { ...asked, password } }, 'auth/invalid-credentials');
    await world.refused(
      challengeSignIn,
      { body: { ...asked, rpId: 'example.org' } },
      'auth/factor-not-found',
    );
    const challenge = async () => (await world.ok(challengeSignIn, { body: asked })).body;
    const signInWith = (shown: unknown) => ({ body: { ...credentials(ada), passkey: shown } });
    const request = await challenge();
    expect(request.allowCredentials).toEqual([
      { type: 'public-key', id: made.passkey.id, transports: ['internal'] },
    ]);
    const bad = [
      new SoftwarePasskey(origin).get(request),
      { ...new SoftwarePasskey(origin).get(request), id: made.passkey.id },
      passkey.get(request, { challenge: 'AAAA' }),
      passkey.get(request, { rpId: 'example.org' }),
      passkey.get(request, { type: 'webauthn.create' }),
      passkey.get(request, { isUnverified: true }),
    ];
    for (const shown of bad) {
      await world.refused(signIn, signInWith(shown), 'auth/invalid-second-factor', { field: 'passkey' });
    }
    await world.ok(signIn, signInWith(passkey.get(request)));
    const copied = signInWith(passkey.get(await challenge(), { isCopied: true }));
    await world.refused(signIn, copied, 'auth/invalid-second-factor', { field: 'passkey' });
    // Signs in several times, because signatures have different forms: a number whose first bit is 1 gets an additional zero
    // byte in front.
    for (let count = 0; count < 8; count++)
      await world.ok(signIn, signInWith(passkey.get(await challenge())));

    const { projectId, operatorToken: token } = world;
    await world.ok(suspendUser, { params: { projectId, userId: ada.id }, token });
    await world.refused(challengeSignIn, { body: asked }, 'auth/suspended');
  });

  it('a project that requires verified addresses gives no sign-in challenge to users with unverified addresses', async () => {
    const { id: projectId } = await world.platform.createProject('Verified');
    const token = world.operatorToken;
    const body = { requireVerifiedEmail: true };
    await world.ok(updateProject, { params: { projectId }, token, body });
    const given = { email: `${randomUUID()}@example.com`, password: 'correct horse battery' };
    await world.ok(signUp, { projectId, body: given });
    await mailTo(world.platform, given.email, 'verificationLink');
    const asked = { projectId, body: { ...given, rpId } };
    await world.refused(challengeSignIn, asked, 'auth/email-not-verified');
    const mailed = tokenIn(await mailTo(world.platform, given.email, 'verificationLink', 1));
    await world.ok(verifyEmail, { projectId, body: { token: mailed } });
    await world.refused(challengeSignIn, asked, 'auth/factor-not-found');
  });

  it('a step-up accepts a password, a code or a passkey, and is valid only for its session', async () => {
    const ada = await world.user();
    const { passkey, id, recoveryCodes: spare } = await withPasskey(ada);
    const params = { userId: ada.id };
    const newPassword = 'another password';
    const isAsked = async (user: TestUser) => {
      const refused = 'auth/step-up-required';
      await world.refused(enrolFactor, { ...as(user), body: { type: 'totp' } }, refused);
      await world.refused(removeFactor, { ...as(user), ...of(id) }, refused);
      await world.refused(exportUser, { ...as(user), params }, refused);
      await world.refused(deleteUser, { ...as(user), params }, refused);
      const body = { password: user.password, newPassword };
      await world.refused(changePassword, { ...as(user), body }, refused);
    };
    await isAsked(ada);

    for (const [field, value] of [...malformed, ['password', 7]] as const) {
      await world.refused(stepUp, { ...as(ada), body: { [field]: value } }, 'auth/invalid-body', { field });
    }
    const message = 'Send one of password, code and passkey.';
    const none = { field: 'password', message };
    await world.refused(stepUp, { ...as(ada), body: {} }, 'auth/invalid-body', none);
    const both = { code: '123456', password: ada.password };
    await world.refused(stepUp, { ...as(ada), body: both }, 'auth/invalid-body', {
      field: 'code',
      message: `code cannot be sent together with password. ${message}`,
    });
    const wrong = { ...as(ada), body: { password: 'wrong' } };
    await world.refused(stepUp, wrong, 'auth/invalid-credentials');
    const code = { ...as(ada), body: { code: '123456' } };
    await world.refused(stepUp, code, 'auth/invalid-second-factor', { field: 'code' });
    for (const bad of [7, 'no host', undefined]) {
      const given = { ...as(ada), body: { rpId: bad } };
      await world.refused(challengePasskey, given, 'auth/invalid-body', { field: 'rpId' });
    }
    const { body: request } = await world.ok(challengePasskey, { ...as(ada), body: { rpId } });
    // A challenge that was made for a session is not valid for a sign-in.
    const elsewhere = { body: { ...credentials(ada), passkey: passkey.get(request) } };
    await world.refused(signIn, elsewhere, 'auth/invalid-second-factor', { field: 'passkey' });
    const before = Date.now();
    const { body } = await world.ok(stepUp, { ...as(ada), body: { passkey: passkey.get(request) } });
    expect(Date.parse(body.expiresAt) - before).toBeGreaterThanOrEqual(5 * 60_000);
    const exported = await world.ok(exportUser, { ...as(ada), params });
    expect(exported.body).toMatchObject({ factors: [{ type: 'passkey' }], recoveryCodesLeft: 10 });
    expect(exported.text).not.toMatch(/publicKey|sealed|hash/i);

    const { app, recoveryCodes } = await withTotp(ada);
    // Recovery codes are returned only when the first factor is confirmed.
    expect(recoveryCodes).toEqual([]);
    const { body: second } = await world.ok(signIn, { body: { ...credentials(ada), code: spare[0] } });
    const elsewhereAda = { ...ada, accessToken: second.accessToken };
    await isAsked(elsewhereAda);
    await world.ok(stepUp, { ...as(elsewhereAda), body: { code: app.next() } });
    const change = { password: ada.password, newPassword };
    await world.ok(changePassword, { ...as(elsewhereAda), body: change });
    const changed = { email: ada.email, password: newPassword };
    await world.refused(signIn, { body: changed }, 'auth/second-factor-required', { field: 'code' });
  });

  it('removing the last factor also removes the recovery codes', async () => {
    const ada = await world.user();
    const { id } = await withTotp(ada);
    await prove(ada);
    const { id: other } = await withPasskey(ada);
    await world.ok(removeFactor, { ...as(ada), ...of(id.toUpperCase()) });
    expect((await world.ok(listFactors, as(ada))).body).toMatchObject({
      factors: [{ id: other }],
      recoveryCodesLeft: 10,
    });
    await world.ok(removeFactor, { ...as(ada), ...of(other) });
    expect((await world.ok(listFactors, as(ada))).body).toEqual({ factors: [], recoveryCodesLeft: 0 });
    await world.ok(signIn, { body: credentials(ada) });
    // The user has no factor any more. So the platform requires no step-up, and only reports that the factor does not exist.
    await world.refused(removeFactor, { ...as(ada), ...of(other) }, 'auth/factor-not-found');
  });

  it('an account has at most ten factors', async () => {
    const ada = await world.user();
    await withPasskey(ada);
    await prove(ada);
    for (let count = 1; count < 9; count++) await withPasskey(ada);
    const [tenth, over] = [await begin(ada, 'totp'), await begin(ada, 'totp')];
    const confirm = ({ id, secret }: Begun<'totp'>) => ({
      ...as(ada),
      ...of(id),
      body: { code: new Authenticator(secret).next() },
    });
    await world.ok(confirmFactor, confirm(tenth));
    await world.refused(confirmFactor, confirm(over), 'auth/too-many-factors');
    await world.refused(enrolFactor, { ...as(ada), body: { type: 'totp' } }, 'auth/too-many-factors');
  });

  it('an operator can remove the factors of a user who has lost them', async () => {
    const { projectId, operatorToken: token } = world;
    const ada = await world.user();
    await withTotp(ada);
    const given = { params: { projectId, userId: ada.id }, token };
    await world.ok(removeUserFactors, given);
    // Repeating the request changes nothing. An operator key with the scope users:write is enough.
    const key = await operatorKey(world, { scopes: ['users:write'] });
    await world.ok(removeUserFactors, { ...given, token: key });
    expect((await world.ok(listFactors, as(ada))).body).toEqual({ factors: [], recoveryCodesLeft: 0 });
    await world.ok(signIn, { body: credentials(ada) });
    for (const params of [
      { projectId, userId: 'nonsense' },
      { projectId: 'nonsense', userId: ada.id },
      { projectId, userId: world.stranger.id },
    ]) {
      await world.refused(removeUserFactors, { token, params }, 'user/not-found');
    }
  });

  it('an external user has no factors, and cannot enrol one', async () => {
    const { accessToken: token } = await externalUser(world, keyPair(), { id: 'their-1' });
    const { body } = await world.ok(listFactors, { token });
    expect(body.factors).toEqual([]);
    await world.refused(enrolFactor, { token, body: { type: 'totp' } }, 'auth/not-password-user');
  });

  it('a caller whose account was deleted is refused with 401', async () => {
    const ada = await world.user();
    await world.ok(deleteUser, { ...as(ada), params: { userId: ada.id } });
    await world.refused(enrolFactor, { ...as(ada), body: { type: 'totp' } }, 'auth/unauthorized');
    await world.refused(stepUp, { ...as(ada), body: { code: '123456' } }, 'auth/unauthorized');
  });
});
