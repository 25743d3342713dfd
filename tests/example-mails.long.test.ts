// Quick counterpart: tests/photo.test.ts
// Starts at most 1 platform and 1 process.
import { randomUUID } from 'node:crypto';
import { createClient, type Session } from '@kith/client';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { paleTexts } from './support/example/contrast.ts';
import { phone, signIn, signUp, type Visitor } from './support/example/visitor.ts';
import { accountOf, type ExampleWorld, startExample } from './support/example/world.ts';
import { mailTo, tokenIn } from './support/mails.ts';
import { openPage } from './support/pages.ts';
import { sharedBrowser } from './support/shared-browser.ts';

const browser = await sharedBrowser();
afterAll(() => browser?.close());

describe.skipIf(!browser)('mails of the example application', { timeout: 120_000, concurrent: true }, () => {
  let world: ExampleWorld;
  beforeAll(async () => {
    world = await startExample(browser as Browser);
  }, 120_000);
  afterAll(() => world?.[Symbol.asyncDispose]());

  const linkIn = async (email: string, kind: Parameters<typeof mailTo>[2], nth = 0) => {
    const { text } = await mailTo(world.platform, email, kind, nth);
    return /^http\S+#\/mail\?\S+$/m.exec(text)?.[0] ?? '';
  };
  const says = (visitor: Visitor, text: string | RegExp) => visitor.page.getByText(text).first().waitFor();

  it('a forgotten password can be replaced with the link in a mail', async ({ expect }) => {
    await using elsewhere = await world.open();
    const ada = accountOf('Ada', 'forgetful');
    await signUp(elsewhere, ada);
    await using visitor = await world.open({ viewport: phone });
    const { page } = visitor;
    await visitor.button('Forgot your password?').click();
    await page.getByLabel('E-mail address').fill(ada.email);
    await visitor.button('Send me a link').click();
    await says(visitor, `If there is an account with ${ada.email}, a mail is on its way.`);
    expect(await paleTexts(page)).toEqual([]);
    await page.goto(await linkIn(ada.email, 'passwordReset'));
    await page.getByLabel('New password').fill('short');
    await visitor.button('Set the password').click();
    await says(visitor, /at least 8 characters/i);
    const password = 'a pass phrase to remember';
    await page.getByLabel('New password').fill(password);
    expect(await paleTexts(page)).toEqual([]);
    await visitor.button('Set the password').click();
    await says(visitor, 'Your password is set.');
    await page.getByRole('link', { name: 'Go on' }).click();
    await signIn(visitor, { email: ada.email, password });
    await page.getByRole('heading', { name: 'Find people' }).waitFor();
    // The new password has ended all sessions. The link in the mail does not work a second time.
    await elsewhere.page.reload();
    await elsewhere.button('Sign in').waitFor();
    await elsewhere.page.goto(await linkIn(ada.email, 'passwordReset'));
    await elsewhere.page.getByLabel('New password').fill(password);
    await elsewhere.button('Set the password').click();
    await says(elsewhere, 'This link has expired or was used. Ask for another mail.');
  });

  it('the link leads to the right page even if the project names only the application’s origin', async ({
    expect,
  }) => {
    await using visitor = await world.open();
    const { page } = visitor;
    const { platform } = world;
    const { id: projectId } = await platform.createProject('Only an origin');
    await platform.call('PATCH', `/admin/projects/${projectId}`, {
      token: platform.operatorToken,
      body: { webOrigins: [new URL(page.url()).origin] },
    });
    await page.route('**/kith.json', (route) => route.fulfill({ json: { url: platform.url, projectId } }));
    const email = `${randomUUID()}@example.com`;
    await platform.createUser(projectId, { email });
    await platform.call('POST', `/v7/${projectId}/auth/request-password-reset`, { body: { email } });
    const { text } = await mailTo(platform, email, 'passwordReset');
    await page.goto(/^http\S+\/\?mail=\S+$/m.exec(text)?.[0] ?? '');
    const password = 'a pass phrase to remember';
    await page.getByLabel('New password').fill(password);
    // The token is no longer in the address, so no server gets it again.
    expect(new URL(page.url()).search).toBe('');
    await visitor.button('Set the password').click();
    await says(visitor, 'Your password is set.');
    await page.getByRole('link', { name: 'Go on' }).click();
    await signIn(visitor, { email, password });
    await page.getByRole('heading', { name: 'Find people' }).waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  it('an address is confirmed by a code, or by a link', async ({ expect }) => {
    await using ada = await world.open();
    const { page } = ada;
    const { email, ...account } = accountOf('Ada', 'confirmed');
    await signUp(ada, { email, ...account });
    await ada.goTo('Account');
    await says(ada, 'is not confirmed yet.');
    await ada.button('Send me a code').click();
    const code = tokenIn(await mailTo(world.platform, email, 'verificationCode'));
    await page.getByLabel('Code').fill(code);
    await ada.button('Confirm').click();
    await says(ada, 'is confirmed.');

    await using grace = await world.open();
    const other = accountOf('Grace', 'confirmed');
    await signUp(grace, other);
    await grace.goTo('Account');
    await grace.button('Send me a link').click();
    const tab = await grace.newTab();
    await tab.goto(await linkIn(other.email, 'verificationLink'));
    // Opening the link alone does not confirm the address. The user also has to press the button below.
    await grace.page.reload();
    await says(grace, 'is not confirmed yet.');
    await tab.getByRole('button', { name: 'Confirm' }).click();
    await tab.getByText('Your e-mail address is confirmed.').waitFor();
    await says(grace, 'is confirmed.');
    expect([ada.complaints, grace.complaints]).toEqual([[], []]);
  });

  it('an address is confirmed by a link even if the session has ended meanwhile', async ({ expect }) => {
    await using ada = await world.open();
    const account = accountOf('Ada', 'away');
    await signUp(ada, account);
    await ada.goTo('Account');
    await ada.button('Send me a link').click();
    const { platform, projectId } = world;
    const link = await linkIn(account.email, 'verificationLink');
    const { page } = ada;
    await page.goto(link);
    const { refreshToken } = await page.evaluate<{ refreshToken: string }>(
      'JSON.parse(Object.values(localStorage)[0])',
    );
    await platform.call('POST', `/v7/${projectId}/auth/sign-out`, { body: { refreshToken } });
    await ada.button('Confirm').click();
    await says(ada, 'Your e-mail address is confirmed.');
    expect(await page.getByText('Your e-mail address is confirmed.').count()).toBe(1);
  });

  it('a changed address can be changed back with the mail to the old address', async ({ expect }) => {
    await using ada = await world.open();
    const { page } = ada;
    const account = accountOf('Ada', 'moved');
    const newEmail = 'ada.new@example.com';
    await signUp(ada, account);
    await ada.goTo('Account');
    await page.getByLabel('New e-mail address').fill(newEmail);
    await page.getByLabel('Your password').fill('wrong');
    await ada.button('Change the address').click();
    await says(ada, 'This is not your password.');
    await page.getByLabel('Your password').fill(account.password);
    await ada.button('Change the address').click();
    await says(ada, `A mail is on its way to ${newEmail}.`);
    const tab = await ada.newTab();
    await tab.goto(await linkIn(newEmail, 'emailChange'));
    await tab.getByRole('button', { name: 'Confirm' }).click();
    await tab.getByText('Your e-mail address is confirmed.').waitFor();
    await page.getByText(newEmail, { exact: false }).first().waitFor();

    await using owner = await world.open();
    await owner.page.goto(await linkIn(account.email, 'emailChanged'));
    await owner.button('Undo the change').click();
    await says(owner, 'Your account has its former address back.');
    await owner.page.getByRole('link', { name: 'Go on' }).click();
    await signIn(owner, account);
    await owner.goTo('Account');
    await says(owner, account.email);
    expect(owner.complaints).toEqual([]);
  });

  it('a link in another user’s mail signs the current user out, also on the platform', async ({ expect }) => {
    const { platform, projectId } = world;
    const account = accountOf('Ada', 'elsewhere');
    const grace = await platform.createUser({ name: 'Grace' });
    const openAsGrace = async (link: string, press: (visitor: Visitor) => Promise<void>) => {
      await using visitor = await world.open();
      const { page } = visitor;
      await signIn(visitor, grace);
      await page.getByRole('heading', { name: 'Find people' }).waitFor();
      const session = await page.evaluate<Session>('JSON.parse(Object.values(localStorage)[0])');
      await page.goto(link);
      await press(visitor);
      await page.getByRole('link', { name: 'Go on' }).click();
      await visitor.button('Sign in').waitFor();
      const { auth } = createClient({ url: platform.url, projectId, session });
      await expect(auth.refresh()).rejects.toMatchObject({ code: 'auth/unauthorized' });
    };
    const { auth } = platform.client();
    await auth.signUp(account);
    const newEmail = 'ada.elsewhere@example.org';
    await auth.changeEmail({ newEmail, password: account.password });
    await auth.verifyEmail({ token: tokenIn(await mailTo(platform, newEmail, 'emailChange')) });
    await openAsGrace(await linkIn(account.email, 'emailChanged'), (visitor) =>
      visitor.button('Undo the change').click(),
    );
    await auth.requestPasswordReset({ email: account.email });
    await openAsGrace(await linkIn(account.email, 'passwordReset'), async (visitor) => {
      await visitor.page.getByLabel('New password').fill('a pass phrase to remember');
      await visitor.button('Set the password').click();
    });
  });

  it('the platform’s own page verifies the address when its button is pressed, and leads back', async ({
    expect,
  }) => {
    await using visitor = await world.open();
    const { page, complaints } = visitor;
    const app = page.url();
    const { platform } = world;
    const { id: projectId } = await platform.createProject('Own page');
    await platform.call('PATCH', `/admin/projects/${projectId}`, {
      token: platform.operatorToken,
      body: { webOrigins: [new URL(app).origin] },
    });
    const email = `${randomUUID()}@example.com`;
    const { accessToken: token } = await platform.createUser(projectId, { email });
    const scope = `/v7/${projectId}/auth`;
    const sent = { token, body: { mode: 'link' } };
    await platform.call('POST', `${scope}/send-verification-email`, sent);
    const secret = tokenIn(await mailTo(platform, email, 'verificationLink'));
    const query = new URLSearchParams({ token: secret, redirect: `${app}?verified` });
    await openPage(page, `${platform.url}${scope}/verify-email-link?${query}`);
    await page.getByRole('heading', { name: 'Confirm your e-mail address' }).waitFor();
    expect(await paleTexts(page)).toEqual([]);
    await visitor.button('Confirm').click();
    await page.waitForURL(`${app}?verified`);

    await platform.call('POST', `${scope}/send-verification-email`, sent);
    const second = tokenIn(await mailTo(platform, email, 'verificationLink', 1));
    // A slash at the end of the page's address is ignored (spec#addresses-trailing-slash).
    await openPage(page, `${platform.url}${scope}/verify-email-link/?token=${second}`);
    await visitor.button('Confirm').click();
    await says(visitor, 'Your e-mail address is confirmed. You can close this page.');
    await page.reload();
    await page.getByRole('heading', { name: 'This link cannot be used any more' }).waitFor();
    expect(complaints.filter((one) => !one.startsWith('elsewhere: '))).toEqual([]);
  });
});
