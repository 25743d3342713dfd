import { randomUUID } from 'node:crypto';
import {
  changeEmail,
  getUser,
  requestPasswordReset,
  resetPassword,
  sendVerificationEmail,
  signIn,
  signUp,
  updateProject,
  verifyEmail,
  verifyEmailLink,
} from '@kith/contracts';
import { waitFor } from '@kith/testing';
import { beforeAll, expect, it } from 'vitest';
import { keyPair } from '../support/keys.ts';
import { mailsTo, mailTo, tokenIn } from '../support/mails.ts';
import { externalUser } from '../support/surface/external-user.ts';
import { refusesStrangers } from '../support/surface/guards.ts';
import { features } from '../support/surface/parts.ts';
import { surfaceSuite } from '../support/surface/suite.ts';
import { userWithPasskey } from '../support/surface/user-with-passkey.ts';

const password = 'a new pass phrase';
const invalid = 'auth/invalid-body';
const app = 'https://app.example.org';
const someAddress = () => `mails-${randomUUID()}@example.com`;

export const mails = surfaceSuite('mails', (world) => {
  const set = (body: unknown, projectId = world.projectId) =>
    world.ok(updateProject, { params: { projectId }, token: world.operatorToken, body });
  const nowhere = randomUUID();
  // The second origin is for passkeys of `localhost`.
  beforeAll(() => set({ webOrigins: [app, 'http://localhost:3000'] }).then(() => undefined));

  it('every operation that needs a token checks it before all else', () =>
    refusesStrangers(world, features.mails.operations));

  it('a password reset gets the same answer for known and unknown addresses, and sets a password once', async () => {
    const ada = await world.user();
    const ask = (email: string) => world.ok(requestPasswordReset, { body: { email } });
    const known = await ask(ada.email.toUpperCase());
    const unknown = await ask(someAddress());
    expect(unknown.text).toBe(known.text);
    await world.refused(requestPasswordReset, { body: { email: 'nobody' } }, invalid, { field: 'email' });
    const elsewhere = { projectId: nowhere, body: { email: ada.email } };
    await world.refused(requestPasswordReset, elsewhere, 'project/not-found');

    const mail = await mailTo(world.platform, ada.email, 'passwordReset');
    const token = tokenIn(mail);
    expect(mail.text).toContain(`${app}/?mail=passwordReset&token=${token}`);
    for (const field of ['token', 'newPassword'])
      await world.refused(resetPassword, { body: { token, newPassword: 'x', [field]: 7 } }, invalid, {
        field,
      });
    const weak = { body: { token, newPassword: 'weak' } };
    await world.refused(resetPassword, weak, 'auth/weak-password', { field: 'newPassword' });
    const bad = { body: { token: 'x'.repeat(43), newPassword: password } };
    await world.refused(resetPassword, bad, 'auth/invalid-reset-token');
    // This token can set a new password, but it cannot verify the address.
    await world.refused(verifyEmail, { body: { token } }, 'auth/invalid-or-expired-token');

    const given = { body: { token, newPassword: password } };
    expect(await world.eightAtOnce(resetPassword, given, 'auth/invalid-reset-token')).toBe(7);
    const ended = { token: ada.accessToken, body: { password, newEmail: someAddress() } };
    await waitFor(() => world.refused(changeEmail, ended, 'auth/unauthorized'));
    await world.refused(
      signIn,
      { body: { email: ada.email, password: ada.password } },
      'auth/invalid-credentials',
    );
    const { body } = await world.ok(signIn, { body: { email: ada.email, password } });
    // The address is now verified, because the mail has reached it.
    expect(body.user.isVerified).toBe(true);
  });

  it('a code verifies only its own user’s address, and becomes invalid after five wrong codes', async () => {
    const { email, accessToken: token } = await world.user();
    const stranger = await world.user();
    for (const [field, value] of [
      ['mode', 'letter'],
      ['redirectUrl', 7],
    ] as const) {
      const given = { token, body: { [field]: value } };
      await world.refused(sendVerificationEmail, given, invalid, { field });
    }
    const elsewhere = { token, body: { redirectUrl: 'https://evil.example.org/' } };
    await world.refused(sendVerificationEmail, elsewhere, 'auth/invalid-redirect', { field: 'redirectUrl' });
    const { accessToken } = await externalUser(world, keyPair(), { id: randomUUID() });
    await world.refused(sendVerificationEmail, { token: accessToken }, 'auth/not-password-user');
    await world.refused(verifyEmail, { body: {} }, invalid, { field: 'token' });

    await world.ok(sendVerificationEmail, { token });
    const first = tokenIn(await mailTo(world.platform, email, 'verificationCode'));
    const wrong = first === '000000' ? '000001' : '000000';
    const refuse = (body: unknown, by: { token?: string } = { token }) =>
      world.refused(verifyEmail, { ...by, body }, 'auth/invalid-or-expired-token');
    await refuse({ token: first }, {});
    await refuse({ token: first }, { token: stranger.accessToken });
    // Each wrong code counts as a try, even if the request has an idempotency key. Refusals are not stored under idempotency
    // keys.
    for (let tries = 0; tries < 5; tries++) {
      const headers = { 'idempotency-key': randomUUID() };
      const given = { token, body: { token: wrong }, headers };
      await world.refused(verifyEmail, given, 'auth/invalid-or-expired-token');
    }
    await refuse({ token: first });

    await world.ok(sendVerificationEmail, { token, body: { mode: 'code' } });
    const second = tokenIn(await mailTo(world.platform, email, 'verificationCode', 1));
    expect((await world.ok(verifyEmail, { token, body: { token: second } })).body).toEqual({ success: true });
    await refuse({ token: second });
    expect(await mailsTo(world.platform, email)).toHaveLength(2);
  });

  it('a link leads to a page that changes nothing before its button is pressed', async () => {
    const { email, accessToken: token, password: right } = await world.user();
    const redirectUrl = `${app}/welcome?"><b>`;
    await world.ok(sendVerificationEmail, { token, body: { mode: 'link', redirectUrl } });
    const secret = tokenIn(await mailTo(world.platform, email, 'verificationLink'));
    const page = (query: Record<string, string>) => ({ query: new URLSearchParams(query).toString() });
    for (const field of ['token', 'redirect']) {
      const given = page({ token: secret, [field]: '' });
      await world.refused(verifyEmailLink, given, 'auth/invalid-query', { field });
    }
    const unknown = { ...page({ token: secret }), projectId: nowhere };
    await world.refused(verifyEmailLink, unknown, 'project/not-found');
    for (const redirect of [
      'https://app.example.org.evil.example',
      'https://app.example.org@evil.example',
      'http://app.example.org',
      'https://app.example.org:444',
      'javascript:alert(1)//https://app.example.org',
      '//app.example.org',
      'https://evil.example\\@app.example.org',
      '/welcome',
    ]) {
      // The redirect is checked before the token.
      const given = page({ token: 'none', redirect });
      await world.refused(verifyEmailLink, given, 'auth/invalid-redirect', { field: 'redirect' });
    }
    const { text, headers } = await world.ok(verifyEmailLink, page({ token: secret, redirect: redirectUrl }));
    expect(text).toContain('<button');
    expect(text).not.toContain('"><b>');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'sha256-/);
    expect(headers['cache-control']).toBe('no-store');
    const gone = await world.ok(verifyEmailLink, page({ token: 'x'.repeat(43) }));
    expect(gone.text).not.toContain('<button');
    const isVerified = async () => {
      const { body } = await world.ok(signIn, { body: { email, password: right } });
      return body.user.isVerified;
    };
    expect(await isVerified()).toBe(false);
    await world.ok(verifyEmail, { body: { token: secret } });
    expect(await isVerified()).toBe(true);
    expect((await world.ok(verifyEmailLink, page({ token: secret }))).text).not.toContain('<button');
  });

  it('a new address takes effect when its link is used; the old address gets a mail that can undo the change', async () => {
    const ada = await world.user();
    const { email, id: userId, accessToken: token, password: right } = ada;
    const newEmail = someAddress();
    const body = { password: right, newEmail };
    for (const field of ['password', 'newEmail'])
      await world.refused(changeEmail, { token, body: { ...body, [field]: 7 } }, invalid, { field });
    const wrong = { token, body: { ...body, password } };
    await world.refused(changeEmail, wrong, 'auth/invalid-credentials');
    const guarded = await userWithPasskey(world);
    await world.refused(changeEmail, { token: guarded.accessToken, body }, 'auth/step-up-required');
    const guessed = await world.user();
    const guess = { token: guessed.accessToken, body: { password, newEmail } };
    for (let nth = 0; nth < 10; nth++) await world.refused(changeEmail, guess, 'auth/invalid-credentials');
    await world.refused(changeEmail, guess, 'auth/too-many-attempts');
    // After too many attempts, the user has to wait. A reset of the password ends this wait.
    await world.ok(requestPasswordReset, { body: { email: guessed.email } });
    const resetBy = tokenIn(await mailTo(world.platform, guessed.email, 'passwordReset'));
    await world.ok(resetPassword, { body: { token: resetBy, newPassword: 'yet another pass phrase' } });
    await world.ok(signIn, { body: { email: guessed.email, password: 'yet another pass phrase' } });
    const taken = { token, body: { ...body, newEmail: (await world.user()).email } };
    await world.refused(changeEmail, taken, 'DUPLICATE_EMAIL', { field: 'newEmail' });
    const external = await externalUser(world, keyPair(), { id: randomUUID() });
    await world.refused(changeEmail, { token: external.accessToken, body }, 'auth/not-password-user');

    await world.ok(changeEmail, { token, body });
    const secret = tokenIn(await mailTo(world.platform, newEmail, 'emailChange'));
    await world.ok(signIn, { body: { email, password: right } });
    await world.ok(verifyEmail, { body: { token: secret } });
    await world.ok(signIn, { body: { email: newEmail, password: right } });
    // As long as the change can still be undone, nobody else can take the old address.
    const squatter = { body: { email, password } };
    await world.refused(signUp, squatter, 'DUPLICATE_EMAIL', { field: 'email' });

    const undo = tokenIn(await mailTo(world.platform, email, 'emailChanged'));
    await world.ok(verifyEmail, { body: { token: undo } });
    await waitFor(() => world.refused(changeEmail, { token, body }, 'auth/unauthorized'));
    const back = await world.ok(signIn, { body: { email, password: right } });
    expect(back.body.user).toMatchObject({ id: userId, email, isVerified: true });
    await world.ok(getUser, { params: { userId } });
    await world.refused(verifyEmail, { body: { token: undo } }, 'auth/invalid-or-expired-token');

    const later = someAddress();
    const again = { token: back.body.accessToken, body: { password: right, newEmail: later } };
    await world.ok(changeEmail, again);
    const tooLate = tokenIn(await mailTo(world.platform, later, 'emailChange'));
    await world.ok(signUp, { body: { email: later, password } });
    await world.refused(verifyEmail, { body: { token: tooLate } }, 'DUPLICATE_EMAIL', { field: 'token' });
  });
});
