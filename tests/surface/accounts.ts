import { createPrivateKey, randomUUID } from 'node:crypto';
import {
  changePassword,
  type SignedUp,
  signIn,
  signUp,
  suspendUser,
  updateProject,
  verifyEmail,
  verifyExternalUser,
} from '@kith/contracts';
import { waitFor } from '@kith/testing';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { keyPair } from '../support/keys.ts';
import { mailTo, tokenIn } from '../support/mails.ts';
import { refusesStrangers } from '../support/surface/guards.ts';
import { features } from '../support/surface/parts.ts';
import { badProfile, profile } from '../support/surface/profiles.ts';
import { surfaceSuite } from '../support/surface/suite.ts';
import { userWithPasskey } from '../support/surface/user-with-passkey.ts';

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const password = 'correct horse battery';
let count = 0;
const address = () => `account-${++count}@example.com`;

export const accounts = surfaceSuite('accounts', (world) => {
  const nowhere = randomUUID();

  it('every operation that needs a token checks it before all else', () =>
    refusesStrangers(world, features.accounts.operations));

  it('sign-up returns a session, and the new user has the role `visitor`', async () => {
    const { body } = await world.ok(signUp, {
      body: { email: '  New@Example.COM ', password, role: 'admin' },
    });
    const { id, createdAt } = body.user;
    expect(body.user).toEqual({
      id: uuid,
      foreignId: null,
      projectId: world.projectId,
      role: 'visitor',
      name: null,
      username: null,
      avatar: null,
      bannerFileId: null,
      avatarFileId: null,
      bio: null,
      birthdate: null,
      location: null,
      metadata: {},
      reputation: 0,
      createdAt,
      email: 'new@example.com',
      isVerified: false,
      isActive: true,
      lastActive: createdAt,
      updatedAt: createdAt,
    });
    expect(decodeProtectedHeader(body.accessToken ?? '')).toMatchObject({
      alg: 'RS256',
      kid: expect.any(String),
    });
    const { iat = 0, exp = 0, ...claims } = decodeJwt(body.accessToken ?? '');
    expect(exp - iat).toBe(30 * 60);
    expect(claims).toEqual({
      sub: id,
      projectId: world.projectId,
      role: 'visitor',
      sid: uuid,
      iss: 'kith',
      aud: 'kith.dev',
      jti: uuid,
    });
    const full = await world.ok(signUp, { body: { email: address(), password, ...profile } });
    expect(full.body.user).toMatchObject(profile);
  });

  it('sign-up refuses invalid fields first, then weak passwords, unknown projects, and taken addresses and names', async () => {
    const good = { email: address(), password };
    const refused = (body: unknown, field: string) =>
      world.refused(signUp, { body, projectId: nowhere }, 'auth/invalid-body', { field });
    for (const email of [undefined, 7, null, '', 'x', 'x@', `${'x'.repeat(250)}@example.com`]) {
      await refused({ ...good, email, password: 'weak' }, 'email');
    }
    for (const wrong of [undefined, 7, null, '\ud800 lone'])
      await refused({ ...good, password: wrong }, 'password');
    for (const [field, value] of badProfile)
      await refused({ ...good, password: 'weak', [field]: value }, field);
    for (const weak of ['', '1234567', '😀'.repeat(7), '       x ']) {
      const given = { projectId: nowhere, body: { ...good, password: weak } };
      await world.refused(signUp, given, 'auth/weak-password', { field: 'password' });
    }
    await world.refused(signUp, { projectId: nowhere, body: good }, 'project/not-found');

    const taken = { email: address(), username: 'Taken.Name' };
    await world.ok(signUp, { body: { ...taken, password } });
    const again = { email: taken.email.toUpperCase(), username: 'taken.name', password };
    await world.refused(signUp, { body: again }, 'DUPLICATE_EMAIL', { field: 'email' });
    const other = { ...again, email: address() };
    await world.refused(signUp, { body: other }, 'DUPLICATE_USERNAME', { field: 'username' });
  });

  it('sign-in returns a session, and answers an unknown address in the same way as a wrong password', async () => {
    const { email, id, user } = await world.user({ name: 'Ada' });
    const ada = await world.user();
    const { body } = await world.ok(signIn, {
      body: { email: ada.email.toUpperCase(), password: ada.password },
    });
    expect(body.user).toEqual({ ...ada.user, lastActive: expect.any(String) });
    expect(decodeJwt(body.accessToken)).toMatchObject({ sub: ada.id, sid: uuid });
    expect(user.id).toBe(id);

    for (const field of ['email', 'password']) {
      const given = { projectId: nowhere, body: { email, password, [field]: 7 } };
      await world.refused(signIn, given, 'auth/invalid-body', { field });
    }
    await world.refused(signIn, { projectId: nowhere, body: { email, password } }, 'project/not-found');
    const wrong = await world.refused(signIn, { body: { email, password } }, 'auth/invalid-credentials');
    const unknown = { email: address(), password };
    const nobody = await world.refused(signIn, { body: unknown }, 'auth/invalid-credentials');
    expect(nobody.text).toBe(wrong.text);
  });

  it('sign-in reports a suspension only if the password is right', async () => {
    const { id, email, password: right } = await world.user();
    const { projectId, operatorToken } = world;
    await world.ok(suspendUser, { params: { projectId, userId: id }, token: operatorToken });
    await world.refused(signIn, { body: { email, password: right } }, 'auth/suspended');
    await world.refused(signIn, { body: { email, password } }, 'auth/invalid-credentials');
  });

  it('sign-in asks for a second factor after the password', async () => {
    const { email, password: right, recoveryCodes, accessToken: token } = await userWithPasskey(world);
    const body = { email, password: right };
    for (const field of ['code', 'passkey']) {
      await world.refused(signIn, { body: { ...body, [field]: 7 } }, 'auth/invalid-body', { field });
    }
    await world.refused(signIn, { body: { ...body, password } }, 'auth/invalid-credentials');
    await world.refused(signIn, { body }, 'auth/second-factor-required', { field: 'code' });
    const wrong = { body: { ...body, code: 'wrong' } };
    await world.refused(signIn, wrong, 'auth/invalid-second-factor', { field: 'code' });
    await world.ok(signIn, { body: { ...body, code: recoveryCodes[0] } });
    const change = { token, body: { password: right, newPassword: 'another password' } };
    await world.refused(changePassword, change, 'auth/step-up-required');
  });

  it('verify-external-user checks the project, its key and the token, then creates or updates the user', async () => {
    const { projectId, operatorToken } = world;
    const pair = keyPair();
    const other = keyPair();
    const claims = { userData: { name: 'Ada', username: 'external.ada', role: 'admin', bio: 7 } };
    const token = (change: (jwt: SignJWT) => SignJWT = (jwt) => jwt, key = pair) =>
      change(
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'RS256' })
          .setSubject('their-1')
          .setIssuer(projectId)
          .setAudience('kith.dev')
          .setIssuedAt()
          .setExpirationTime('5m'),
      ).sign(createPrivateKey(Buffer.from(key.privateKey, 'base64')));
    const exchange = (userJwt: unknown) => ({ body: { userJwt } });
    for (const wrong of [undefined, 7, '', 'x'.repeat(64 * 1024 + 1)]) {
      const given = { ...exchange(wrong), projectId: nowhere };
      await world.refused(verifyExternalUser, given, 'auth/invalid-body', { field: 'userJwt' });
    }
    const unknown = { ...exchange('nonsense'), projectId: nowhere };
    await world.refused(verifyExternalUser, unknown, 'project/not-found');
    await world.refused(verifyExternalUser, exchange('nonsense'), 'auth/missing-keys');

    const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' });
    const project = { params: { projectId }, token: operatorToken };
    await world.ok(updateProject, { ...project, body: { publicKey } });
    const bad = [
      'nonsense',
      await token(undefined, other),
      await token((jwt) => jwt.setIssuer(nowhere)),
      await token((jwt) => jwt.setAudience('elsewhere.test')),
      await token((jwt) => jwt.setSubject('')),
      await token((jwt) => jwt.setIssuedAt('-10m').setExpirationTime('-5m')),
      await token((jwt) => jwt.setIssuedAt('10m').setExpirationTime('15m')),
    ];
    for (const userJwt of bad) {
      await world.refused(verifyExternalUser, exchange(userJwt), 'auth/invalid-token');
    }
    const made = await world.ok(verifyExternalUser, exchange(await token()));
    const own = { foreignId: 'their-1', name: 'Ada', username: 'external.ada', role: 'visitor', bio: null };
    expect(made.body.user).toMatchObject({ ...own, email: null });
    claims.userData.name = 'Countess';
    const updated = await world.ok(verifyExternalUser, exchange(await token()));
    expect(updated.body.user).toMatchObject({ ...own, id: made.body.user.id, name: 'Countess' });

    const taken = await world.ok(
      verifyExternalUser,
      exchange(await token((jwt) => jwt.setSubject('their-2'))),
    );
    expect(taken.body.user).toMatchObject({ foreignId: 'their-2', name: 'Countess', username: null });
    const params = { projectId, userId: made.body.user.id };
    await world.ok(suspendUser, { params, token: operatorToken });
    await world.refused(verifyExternalUser, exchange(await token()), 'auth/suspended');
  });

  it('change-password checks the fields, then the strength of the new password, then the old password, and ends the other sessions', async () => {
    const ada = await world.user();
    const { accessToken: token } = ada;
    const other = await world.ok(signIn, { body: { email: ada.email, password: ada.password } });
    const body = { password: 'wrong', newPassword: 'another password' };
    for (const field of ['password', 'newPassword']) {
      const given = { token, body: { newPassword: 'weak', password: 'wrong', [field]: 7 } };
      await world.refused(changePassword, given, 'auth/invalid-body', { field });
    }
    const weak = { token, body: { ...body, newPassword: 'weak' } };
    await world.refused(changePassword, weak, 'auth/weak-password', { field: 'newPassword' });
    await world.refused(changePassword, { token, body }, 'auth/invalid-credentials');
    const changed = await world.ok(changePassword, { token, body: { ...body, password: ada.password } });
    expect(changed.body).toEqual({
      success: true,
      message: 'The password is changed. Other sessions have ended.',
    });
    const again = { token, body: { ...body, password: ada.password } };
    await world.refused(changePassword, again, 'auth/invalid-credentials');
    const ended = { ...again, token: other.body.accessToken };
    await waitFor(async () => world.refused(changePassword, ended, 'auth/unauthorized'));
    await world.ok(signIn, { body: { email: ada.email, password: body.newPassword } });
  });

  it('after ten failed attempts at an account, further attempts are refused for a while', async () => {
    const { email, password: right, accessToken: token } = await world.user();
    const signing = { body: { email, password } };
    for (let at = 0; at < 10; at++) await world.refused(signIn, signing, 'auth/invalid-credentials');
    const refused = await world.refused(signIn, signing, 'auth/too-many-attempts');
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    await world.refused(signIn, { body: { email, password: right } }, 'auth/too-many-attempts');
    const body = { password: right, newPassword: 'another password' };
    await world.refused(changePassword, { token, body }, 'auth/too-many-attempts');
  });

  it('a project that requires verified addresses gives no session to a user with an unverified address', async () => {
    const { id: projectId } = await world.platform.createProject('Verified');
    const set = (body: unknown) =>
      world.ok(updateProject, { params: { projectId }, token: world.operatorToken, body });
    await set({ requireVerifiedEmail: true });
    const email = `${randomUUID()}@example.com`;
    const made = await world.ok(signUp, { projectId, body: { email, password } });
    const { accessToken, refreshToken, user }: SignedUp = made.body;
    expect([accessToken, refreshToken, user.isVerified]).toEqual([null, null, false]);
    await mailTo(world.platform, email, 'verificationLink');
    const given = { projectId, body: { email, password } };
    await world.refused(signIn, given, 'auth/email-not-verified');
    const wrong = { projectId, body: { email, password: 'wrong' } };
    await world.refused(signIn, wrong, 'auth/invalid-credentials');
    const token = tokenIn(await mailTo(world.platform, email, 'verificationLink', 1));
    await world.ok(verifyEmail, { projectId, body: { token } });
    await world.ok(signIn, given);
    await set({ signUp: 'closed' });
    const another = { projectId, body: { email: address(), password } };
    await world.refused(signUp, another, 'auth/sign-up-closed');
  });
});
