// Quick counterpart: tests/photo.test.ts
// Starts at most 1 platform and 1 process.
import { text } from 'node:stream/consumers';
import type { TestUser } from '@kith/testing';
import type { Browser, Locator, Page, Route } from 'playwright-core';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { Authenticator } from './support/authenticator.ts';
import { readQrCode } from './support/example/read-qr-code.ts';
import { refuse } from './support/example/refuse.ts';
import { addAuthenticator } from './support/example/virtual-authenticator.ts';
import { phone, signIn, signUp } from './support/example/visitor.ts';
import { accountOf, type ExampleWorld, startExample } from './support/example/world.ts';
import { sharedBrowser } from './support/shared-browser.ts';

const browser = await sharedBrowser();
afterAll(() => browser?.close());

describe.skipIf(!browser)('the example application', { timeout: 120_000, concurrent: true }, () => {
  let world: ExampleWorld;
  beforeAll(async () => {
    world = await startExample(browser as Browser);
  }, 120_000);
  afterAll(() => world?.[Symbol.asyncDispose]());

  /** Saves people in a new folder of a user. */
  const savePeople = async (user: TestUser, collectionName: string, ids: readonly string[]) => {
    const { collections } = world.platform.client(user);
    const { id: rootId } = await collections.getRoot();
    const { id: collectionId } = await collections.createSubCollection({
      collectionId: rootId,
      collectionName,
    });
    for (const entityId of ids) await collections.addEntity({ collectionId, entityId });
  };
  const card = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });

  it('lets two people find each other, and shows each person immediately what the other does', async ({
    expect,
  }) => {
    await using ada = await world.open();
    await using grace = await world.open({ viewport: phone });
    await signUp(ada, accountOf('Ada', 'demo'));
    await signUp(grace, accountOf('Grace', 'demo'));
    await grace.goTo('Notifications');
    await grace.page.getByText('All quiet').waitFor();

    await ada.page.getByRole('searchbox').fill('grace');
    await ada.button('Connect with Grace Demo').click();
    await ada.page.getByLabel('Message').fill('We met at the workshop.');
    await ada.button('Send request').click();
    await ada.button('Withdraw the request to Grace Demo').waitFor();

    const told = 'Ada Demo would like to connect with you';
    await grace.page.getByRole('status').getByText(told).waitFor();
    await grace.page.getByRole('list').getByText(told).waitFor();
    await grace.page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
    await expect.poll(() => grace.page.title()).toBe('(1) Notifications · People');

    await grace.goTo('Connections');
    await grace.page.getByRole('link', { name: 'Requests' }).click();
    await grace.page.getByText('“We met at the workshop.”').waitFor();
    await grace.button('Accept Ada Demo').click();
    await grace.page.getByText('Nobody waits for your answer').waitFor();
    await grace.page.getByRole('link', { name: 'Connected' }).click();
    await card(grace.page, 'Ada Demo').waitFor();

    await ada.page.getByRole('status').getByText('Grace Demo accepted your request').waitFor();
    await ada.button('Disconnect from Grace Demo').waitFor();
    await ada.goTo('Connections');
    await card(ada.page, 'Grace Demo').waitFor();

    await grace.goTo('Notifications');
    await grace.button('Mark all as read').click();
    await grace.button('Mark all as read').waitFor({ state: 'detached' });
    await grace.page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();

    await ada.button('Disconnect from Grace Demo').click();
    await ada.button('Disconnect').click();
    await ada.page.getByText('No connections yet').waitFor();
    expect([ada.complaints, grace.complaints]).toEqual([[], []]);
  });

  it('signs in with a second step: an authenticator app, a recovery code or a passkey', async ({
    expect,
  }) => {
    await using ada = await world.open();
    const { page } = ada;
    const own = accountOf('Ada', 'factors');
    await addAuthenticator(page);
    await signUp(ada, own);
    await ada.goTo('Account');
    await ada.button('Add an authenticator app').click();
    const secret = await page.getByLabel('Secret').inputValue();
    const shown = new URL(await readQrCode(page.getByRole('img', { name: 'QR code' })));
    expect([shown.protocol, shown.searchParams.get('secret')]).toEqual(['otpauth:', secret]);
    const app = new Authenticator(secret);
    await page.getByLabel('Code that the app shows').fill('000000');
    await ada.button('Add the app').click();
    await page.getByText('This code or passkey is not valid.').waitFor();
    await page.getByLabel('Code that the app shows').fill(app.next());
    await ada.button('Add the app').click();
    const listed = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
    // Waits for the first code, because `allTextContents` does not wait for anything.
    await listed.first().waitFor();
    const [code = '', ...others] = await listed.allTextContents();
    expect([code, others.length]).toEqual([expect.stringMatching(/^([A-Z2-7]{6}-){3}[A-Z2-7]{6}$/), 9]);
    await ada.button('I have kept them').click();

    // Ada already has a second factor, so she has to give her password before she can add a passkey.
    await ada.button('Add a passkey').click();
    await page.getByRole('dialog').getByLabel('Your password').fill(own.password);
    await ada.button('Continue').click();
    await ada.button(/^Remove Passkey of/).waitFor();
    await page.getByText('10 recovery codes are left.').waitFor();

    const signInAgain = async (second: () => Promise<void>) => {
      await ada.button('Sign out').first().click();
      await signIn(ada, own);
      await page.getByLabel('Code').waitFor();
      await second();
      await page.getByRole('heading', { name: 'Your account' }).waitFor();
    };
    const enter = async (text: string) => {
      await page.getByLabel('Code').fill(text);
      await ada.button('Sign in').click();
    };
    await signInAgain(() => enter(app.next()));
    await signInAgain(() => enter(code));
    await page.getByText('9 recovery codes are left.').waitFor();
    await signInAgain(() => ada.button('Use a passkey').click());

    // Two actions ask for a proof of the user's identity at the same time. One proof is enough for both.
    const names = ['Export my data', 'Make new codes'];
    for (const name of names) await ada.button(name).waitFor();
    const download = page.waitForEvent('download');
    const refused = ['/export', '/recovery-codes'].map((path) =>
      page.waitForResponse((answer) => answer.url().endsWith(path) && answer.status() === 403),
    );
    await page.evaluate(`for (const button of document.querySelectorAll('button'))
      if (${JSON.stringify(names)}.includes(button.textContent)) button.click();`);
    await Promise.all(refused);
    await ada.button('Use a passkey').click();
    expect((await download).suggestedFilename()).toBe('my-data.json');
    await ada.button('I have kept them').click();
    for (const name of ['Remove Authenticator app', /^Remove Passkey of/]) await ada.button(name).click();
    await page.getByText('recovery codes are left.').waitFor({ state: 'detached' });
    await ada.button('Sign out').first().click();
    await signIn(ada, own);
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    // The browser reports failed requests. Only two kinds of refusals may be among them: those that ask for the second step,
    // and the refusal of the wrong code.
    expect(ada.complaints.filter((one) => !/status of 40[13]/.test(one))).toEqual([]);
  });

  it('asks for a proof before it changes the address, and for a new proof if this one expires before a factor is confirmed', async ({
    expect,
  }) => {
    await using ada = await world.open();
    const { page } = ada;
    const own = accountOf('Ada', 'proofs');
    await signUp(ada, own);
    await ada.goTo('Account');
    const addApp = async () => {
      await ada.button('Add an authenticator app').click();
      const app = new Authenticator(await page.getByLabel('Secret').inputValue());
      await page.getByLabel('Code that the app shows').fill(app.next());
      await ada.button('Add the app').click();
    };
    const prove = async () => {
      const dialog = page.getByRole('dialog', { name: 'Is it you?' });
      await dialog.getByLabel('Your password').fill(own.password);
      await ada.button('Continue').click();
    };
    await addApp();
    await ada.button('I have kept them').click();

    const form = page.getByRole('form', { name: 'Change of the e-mail address' });
    await form.getByLabel('New e-mail address').fill('ada.proved@example.com');
    await form.getByLabel('Your password').fill(own.password);
    await ada.button('Change the address').click();
    await prove();
    await form.getByText('A mail is on its way to ada.proved@example.com.').waitFor();

    // This route answers one request to confirm a factor. It answers as the platform does when the proof has expired.
    const json = { error: 'Prove your identity again.', code: 'auth/step-up-required' };
    await page.route('**/confirm', (route) => route.fulfill({ status: 403, json }), { times: 1 });
    await addApp();
    await prove();
    const factors = page.getByRole('list', { name: 'Second factors' }).getByRole('listitem');
    await factors.nth(1).waitFor();
    expect(await factors.count()).toBe(2);
  });

  it('withdraws and declines requests, and blocks and unblocks people', async ({ expect }) => {
    await using ada = await world.open();
    const own = accountOf('Ada', 'second');
    await signUp(ada, own);
    await ada.page.getByRole('searchbox').fill('hedy');
    await ada.button('Connect with Hedy Demo').click();
    await ada.button('Send request').click();
    await ada.button('Withdraw the request to Hedy Demo').click();
    await ada.button('Connect with Hedy Demo').waitFor();

    await world.ask(world.edith, own.username, 'Hello');
    await ada.page.getByRole('status').getByText('Edith Demo would like to connect').click();
    await ada.button('Decline Edith Demo').click();
    // Ada has declined Edith's request, and may now send a request to Edith.
    await ada.button('Connect with Edith Demo').waitFor();
    await ada.button('Block Edith Demo').click();
    await ada.button('Block').click();
    await ada.button('Unblock Edith Demo').waitFor();
    await ada.goTo('People');
    await ada.page.getByRole('searchbox').fill('edith');
    await ada.page.getByText('Nobody by that name').waitFor();
    await ada.goTo('Connections');
    await ada.page.getByRole('link', { name: 'Blocked' }).click();
    await ada.button('Unblock Edith Demo').click();
    await ada.page.getByText('You block nobody').waitFor();
    expect(ada.complaints).toEqual([]);
  });

  it('saves people in folders, which can be created, nested, renamed and deleted', async ({ expect }) => {
    await using ada = await world.open();
    const { page } = ada;
    await signUp(ada, accountOf('Ada', 'third'));
    await ada.goTo('Folders');
    await page.getByLabel('Name of the new folder').fill('Reading');
    await ada.button('Add').click();
    await page.getByRole('link', { name: 'Reading 0 saved' }).click();
    await ada.button('Rename Reading').click();
    await page.getByLabel('Name', { exact: true }).fill('Reading group');
    await ada.button('Rename').click();
    await page.getByRole('heading', { name: 'Reading group' }).waitFor();
    await ada.button('New folder in Reading group').click();
    await page.getByLabel('Name', { exact: true }).fill('Autumn');
    await ada.button('Create').click();
    await page.getByRole('list', { name: 'Folders in Reading group' }).getByText('Autumn').waitFor();

    await ada.goTo('People');
    await page.getByRole('searchbox').fill('alan');
    await ada.button('Save Alan Demo to a folder').click();
    await page.getByRole('checkbox', { name: 'Reading group' }).check();
    await ada.button('Folders in Reading group').click();
    await page.getByRole('checkbox', { name: 'Autumn' }).check();
    await page.getByRole('checkbox', { name: 'Autumn' }).uncheck();
    await ada.button('Done').click();

    await ada.goTo('Folders');
    await page.getByRole('link', { name: 'Reading group 1 saved' }).click();
    await card(page, 'Alan Demo').waitFor();
    // The page's address names the folder, so the page shows the same folder after a reload.
    await page.reload();
    await ada.button('Take Alan Demo out of Reading group').click();
    await page.getByText('Nobody is saved here yet').waitFor();
    await ada.button('Delete Reading group').click();
    await ada.button('Delete').click();
    await page.getByText('No folders yet.').waitFor();
    expect(ada.complaints).toEqual([]);
  });

  it('shows a folder as chosen while the choice is being stored, even if other folders change meanwhile', async ({
    expect,
  }) => {
    await using ada = await world.open();
    const { page } = ada;
    await signUp(ada, accountOf('Ada', 'seventh'));
    await ada.goTo('Folders');
    for (const name of ['First', 'Second']) {
      await page.getByLabel('Name of the new folder').fill(name);
      await ada.button('Add').click();
      await page.getByRole('link', { name: `${name} 0 saved` }).waitFor();
    }
    await ada.goTo('People');
    await page.getByRole('searchbox').fill('alan');
    await ada.button('Save Alan Demo to a folder').click();
    const [first, second] = ['First', 'Second'].map((name) => page.getByRole('checkbox', { name }));
    await first?.waitFor();

    const [tell, store] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let saves = 0;
    await page.route(/\/entities$/, async (route) => {
      if (route.request().method() === 'POST' && ++saves === 2) await store.promise;
      await route.continue();
    });
    await page.route(/is-entity-saved/, async (route) => {
      await tell.promise;
      await route.continue();
    });
    await first?.check();
    await second?.check();
    const told = page.waitForResponse(/is-entity-saved/);
    tell.resolve();
    await (await told).finished();
    await page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))');
    expect(await second?.isChecked()).toBe(true);
    store.resolve();
    await ada.button('Done').click();
    await ada.goTo('Folders');
    for (const name of ['First', 'Second'])
      await page.getByRole('link', { name: `${name} 1 saved` }).waitFor();
    expect(ada.complaints).toEqual([]);
  });

  it('says why data is missing if it could not be loaded, and loads it on request', async ({ expect }) => {
    const user = await world.platform.createUser({ name: 'Ada Limited' });
    await savePeople(user, 'Mentors', [world.alan.id]);
    await using ada = await world.open();
    const { page } = ada;
    await signIn(ada, user);
    const sentence = page.getByText('That was a lot at once. Wait a moment and try again.');
    const miss = async (addresses: RegExp, open: () => Promise<void>, missing?: Locator) => {
      const answerAgain = await refuse(page, addresses);
      await open();
      await sentence.waitFor();
      expect(await missing?.count()).toBe(missing && 0);
      await answerAgain();
      await ada.button('Try again').click();
      await missing?.waitFor();
      await sentence.waitFor({ state: 'detached' });
    };
    const connect = ada.button('Connect with Hedy Demo');
    await miss(/\/connection$/, () => page.getByRole('searchbox').fill('hedy'), connect);
    const save = ada.button('Save Hedy Demo to a folder');
    await miss(/is-entity-saved/, () => save.click(), page.getByRole('checkbox', { name: 'Mentors' }));
    await ada.button('Done').click();
    const openFolder = async () => {
      await ada.goTo('Folders');
      await page.getByRole('link', { name: 'Mentors 1 saved' }).click();
    };
    const alan = page.getByRole('link', { name: 'Alan Demo' });
    await miss(new RegExp(`/users/${world.alan.id}$`), openFolder, alan);
    const setting = page.getByLabel('Who may ask to connect');
    await miss(/\/connections\/settings$/, () => ada.goTo('Account'), setting);
    await ada.goTo('People');
    await miss(/\/auth\/factors$/, () => ada.goTo('Account'));
  });

  it('keeps what it shows, and says why, if the data cannot be loaded again', async ({ expect }) => {
    const user = await world.platform.createUser({ name: 'Ada Kept', username: 'ada.kept' });
    await world.platform.connect(user, world.alan);
    await using ada = await world.open();
    const { page } = ada;
    await signIn(ada, user);
    const keep = async (shown: Locator, addresses: RegExp, from: TestUser) => {
      await shown.waitFor();
      const answerAgain = await refuse(page, addresses);
      await world.ask(from, 'ada.kept', 'Hello');
      const sentence = page.getByText('That was a lot at once.');
      await sentence.waitFor();
      expect(await shown.count()).toBe(1);
      await answerAgain();
      await ada.button('Try again').click();
      await sentence.waitFor({ state: 'detached' });
      expect(await shown.count()).toBe(1);
    };
    await page.getByRole('searchbox').fill('hedy');
    await keep(ada.button('Connect with Hedy Demo'), /\/connection$/, world.joan);
    await ada.goTo('Connections');
    await keep(card(page, 'Alan Demo'), /\/connections\?/, world.edith);
  });

  it('loads a page once when it is opened, and does not load profiles again', async ({ expect }) => {
    const user = await world.platform.createUser({ name: 'Ada Once', username: 'ada.once' });
    await using ada = await world.open();
    const { page } = ada;
    await signIn(ada, user);
    await page.getByRole('searchbox').fill('alan');
    await page.getByRole('link', { name: 'Alan Demo' }).click();
    await ada.button('Connect with Alan Demo').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'GET') asked.push(new URL(request.url()).pathname);
    });
    const answers = ['stream', 'count'].map((end) => page.waitForResponse(`**/app-notifications/${end}`));
    await page.reload();
    await Promise.all(answers);
    await world.ask(world.joan, 'ada.once', 'Hello');
    await page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
    const timesOf = (end: string) => asked.filter((path) => path.endsWith(end)).length;
    const { id } = world.alan;
    // Data that the notification may have changed is loaded a second time.
    expect([`/users/${id}`, `/users/${id}/connection`, '/app-notifications/count'].map(timesOf)).toEqual([
      1, 2, 2,
    ]);
  });

  it('counts a notification that comes before the stream of notifications is open', async ({ expect }) => {
    const user = await world.platform.createUser({ name: 'Ada Early', username: 'ada.early' });
    await using ada = await world.open();
    const { page } = ada;
    const held = Promise.withResolvers<void>();
    const stream = '**/app-notifications/stream';
    await page.route(stream, async (route) => {
      await held.promise;
      await route.continue();
    });
    const asked = page.waitForRequest(stream);
    await signIn(ada, user);
    await asked;
    await world.ask(world.joan, 'ada.early', 'Hello');
    held.resolve();
    await page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
    expect(ada.complaints).toEqual([]);
  });

  it('lets people change their picture, profile and password, and shows others the new profile', async ({
    expect,
  }) => {
    const user = await world.platform.createUser({ name: 'Ada Eighth', username: 'ada.eighth' });
    await using ada = await world.open();
    const { page } = ada;
    await signIn(ada, user);
    await ada.goTo('Account');
    await ada.button('Add a picture').waitFor();

    // Makes a photo as a phone stores it: sideways, and with an EXIF note which says that the photo must be turned.
    const photo = await sharp({ create: { width: 800, height: 400, channels: 3, background: 'teal' } })
      .jpeg()
      .withMetadata({ orientation: 6 })
      .toBuffer();
    // The page sends the upload, but the route never answers it. So the upload is still running when it is cancelled.
    await page.route('**/storage/images', () => {});
    const file = page.getByLabel('Picture', { exact: true });
    await file.setInputFiles({ name: 'me.jpg', mimeType: 'image/jpeg', buffer: photo });
    await page.getByRole('progressbar', { name: 'Upload' }).waitFor();
    await ada.button('Cancel').click();
    await ada.button('Add a picture').waitFor();
    await page.unroute('**/storage/images');
    const { storage, users } = world.platform.client(user);
    expect((await storage.listFiles()).total).toBe(0);

    await file.setInputFiles({ name: 'me.jpg', mimeType: 'image/jpeg', buffer: photo });
    await ada.button('Change picture').waitFor();
    const shows = (place: string) =>
      `(({ naturalWidth, naturalHeight } = {}) => naturalWidth === 160 && naturalHeight === 320)(document.querySelector('${place} img') ?? undefined)`;
    await page.waitForFunction(shows('.picture'));
    const [stored] = (await storage.listFiles()).items;
    expect(stored).toMatchObject({ originalWidth: 400, originalHeight: 800 });
    expect((await users.get({ userId: user.id })).avatar).toContain(stored?.fileId);
    await file.setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await page.getByRole('alert').getByText('This is no picture that can be shown.').waitFor();

    await page.getByLabel('Name', { exact: true }).fill('Ada Renamed');
    await page.getByLabel('About you').fill('Counts twice.');
    await ada.button('Save profile').click();
    await page.getByRole('status').getByText('Your profile is saved.').waitFor();
    await using hedy = await world.open();
    await signIn(hedy, world.hedy);
    await hedy.page.getByRole('searchbox').fill('ada.eighth');
    await hedy.page.getByRole('link', { name: 'Ada Renamed' }).click();
    await hedy.page.getByText('Counts twice.').waitFor();
    await hedy.page.waitForFunction(shows('.profile'));

    await page.getByLabel('Current password').fill('not this one');
    await page.getByLabel('New password').fill('another good one');
    await ada.button('Change password').click();
    await page.getByText('This is not your password.').waitFor();
    await page.getByLabel('Current password').fill(user.password);
    await ada.button('Change password').click();
    await page.getByRole('status').getByText('Your password is changed.').waitFor();
    const { email } = user;
    const client = world.platform.client();
    await client.auth.signIn({ email, password: 'another good one' });
    expect([hedy.complaints, ada.complaints.filter((text) => !/status of 4\d\d/.test(text))]).toEqual([
      [],
      [],
    ]);
  });

  it('deletes an uploaded picture if the profile does not show it', async ({ expect }) => {
    const user = await world.platform.createUser({ name: 'Ada Pictured' });
    const { storage, users } = world.platform.client(user);
    await using ada = await world.open();
    const { page } = ada;
    await signIn(ada, user);
    await ada.goTo('Account');
    const photo = await sharp({ create: { width: 40, height: 40, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();
    const profile = new RegExp(`/users/${user.id}$`);
    /** Uploads the picture. Meanwhile, `way` handles the requests that change the profile. */
    const upload = async (way: (route: Route) => Promise<unknown>, shown: Locator) => {
      await page.route(profile, (route) =>
        route.request().method() === 'PATCH' ? way(route) : route.fallback(),
      );
      const file = { name: 'me.png', mimeType: 'image/png', buffer: photo };
      await page.getByLabel('Picture', { exact: true }).setInputFiles(file);
      await shown.waitFor();
      await page.unroute(profile);
      return (await storage.listFiles()).items.map(({ fileId }) => fileId);
    };
    const problem = (text: string) => page.getByRole('alert').getByText(text);

    const json = { error: 'This is no image.', code: 'user/invalid-body', field: 'avatarFileId' };
    const refused = (route: Route) => route.fulfill({ status: 400, json });
    expect(await upload(refused, problem('Something went wrong.'))).toEqual([]);
    const lost = (route: Route) => route.abort('connectionreset');
    expect(await upload(lost, problem('The platform cannot be reached.'))).toEqual([]);

    // The profile gets the picture, but the answers are lost.
    const unanswered = async (route: Route) => {
      await route.fetch();
      await route.abort('connectionreset');
    };
    const [first, ...others] = await upload(unanswered, ada.button('Change picture'));
    expect([await users.get({ userId: user.id }), others]).toEqual([
      expect.objectContaining({ avatarFileId: first }),
      [],
    ]);
    // This time the page cannot even find out whether the profile has the picture. So the file stays.
    await page.route('**/request-new-access-token', (route) => route.abort('connectionreset'));
    const stored = await upload(unanswered, problem('The platform cannot be reached.'));
    expect(stored).toHaveLength(2);
    expect(stored).toContain((await users.get({ userId: user.id })).avatarFileId);
  });

  it('lists the sessions of a user, and ends one of them', async ({ expect }) => {
    const user = await world.platform.createUser({ name: 'Ada Ninth' });
    await using here = await world.open();
    await using there = await world.open({
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Firefox/150.0',
    });
    for (const visitor of [there, here]) {
      await signIn(visitor, user);
      await visitor.goTo('Account');
    }
    const rows = here.page.getByRole('list', { name: 'Your sessions' }).getByRole('listitem');
    await rows.filter({ hasText: 'This one' }).waitFor();
    await here.button('Sign out Firefox on Linux').click();
    await there.page.getByRole('heading', { name: 'Good to see you' }).waitFor();
    await here.button('Sign out Firefox on Linux').waitFor({ state: 'detached' });
    expect(here.complaints).toEqual([]);
  });

  it('lets people decide who may ask to connect, who sees their connections, and which notifications they get', async ({
    expect,
  }) => {
    const user = await world.platform.createUser({ name: 'Ada Private', username: 'ada.private' });
    const { connections, notifications } = world.platform.client(user);
    await using ada = await world.open();
    const { page } = ada;
    await signIn(ada, user);
    await ada.goTo('Account');
    const decide = async (act: Promise<unknown>) => {
      await act;
      await page.getByRole('status').getByText('Your settings are saved.').last().waitFor();
    };
    await decide(page.getByLabel('Who may ask to connect').selectOption('nobody'));
    const shown = page.getByLabel('Show my connections to others');
    expect(await shown.isChecked()).toBe(true);
    await decide(shown.click());
    await page.getByRole('checkbox', { checked: false }).waitFor();
    expect(await connections.getSettings()).toEqual({ requestsFrom: 'nobody', showsConnections: false });
    await decide(page.getByLabel('Tell me of new requests').click());
    await page.getByRole('checkbox', { checked: false }).nth(1).waitFor();
    expect(await notifications.getSettings()).toMatchObject({ types: { 'connection-request': false } });
    await expect(world.ask(world.hedy, 'ada.private', 'Hello')).rejects.toThrow();
    expect(ada.complaints).toEqual([]);
  });

  it('exports the data of people, and deletes their account', async ({ expect }) => {
    await using ada = await world.open();
    const own = accountOf('Ada', 'tenth');
    await signUp(ada, own);
    await ada.goTo('Account');
    const saved = ada.page.waitForEvent('download');
    await ada.button('Export my data').click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe('my-data.json');
    const exported = await text(await download.createReadStream());
    expect(JSON.parse(exported)).toMatchObject({ user: { username: own.username }, files: [] });
    await ada.button('Delete my account').click();
    await ada.button('Delete for good').click();
    await ada.page.getByRole('heading', { name: 'Good to see you' }).waitFor();
    await signIn(ada, own);
    await ada.page.getByRole('alert').getByText('do not belong together').waitFor();
    expect(ada.complaints.filter((complaint) => !/status of 401/.test(complaint))).toEqual([]);
  });

  it('deletes an account without an error, even if the answer is lost', async ({ expect }) => {
    await using ada = await world.open();
    const { page } = ada;
    const own = accountOf('Ada', 'eleventh');
    await signUp(ada, own);
    await ada.goTo('Account');
    let deletions = 0;
    await page.route(/\/users\/[^/]+$/, async (route) => {
      if (route.request().method() !== 'DELETE' || ++deletions > 1) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await ada.button('Delete my account').click();
    await ada.button('Delete for good').click();
    await page.getByRole('heading', { name: 'Good to see you' }).waitFor();
    await signIn(ada, own);
    await page.getByRole('alert').getByText('do not belong together').waitFor();
    expect(deletions).toBe(2);
    expect(await page.getByText(/session has ended|cannot be reached/).count()).toBe(0);
  });

  it('shares a session between tabs, keeps it after a reload, and ends it in all tabs', async ({
    expect,
  }) => {
    await using ada = await world.open();
    await signUp(ada, accountOf('Ada', 'fourth'));
    await ada.page.reload();
    await ada.page.getByRole('link', { name: 'Your profile' }).waitFor();
    const tab = await ada.newTab();
    await tab.getByRole('heading', { name: 'Find people' }).waitFor();

    await world.ask(world.hedy, 'ada.fourth', 'Hello');
    for (const page of [ada.page, tab]) {
      await page.getByRole('link', { name: 'Notifications 1 unread' }).click();
    }
    await ada.button('Mark “Hedy Demo would like to connect with you” as read').click();
    await tab.getByRole('link', { name: 'Notifications', exact: true }).waitFor();

    await tab.getByRole('button', { name: 'Sign out' }).click();
    for (const page of [ada.page, tab])
      await page.getByRole('heading', { name: 'Good to see you' }).waitFor();
    expect(await ada.page.evaluate('JSON.stringify(localStorage)')).toBe('{}');
    await ada.page.reload();
    await ada.button('Sign in').waitFor();
    expect(ada.complaints).toEqual([]);
  });

  it('signs out a user whose account is suspended, and says why', async ({ expect }) => {
    await using ada = await world.open();
    const own = accountOf('Ada', 'sixth');
    await signUp(ada, own);
    const { platform, projectId } = world;
    const scope = `/v7/${projectId}/users/by-username?username=${own.username}`;
    const { id } = await platform.call<{ id: string }>('GET', scope);
    await platform.call('POST', `/admin/projects/${projectId}/users/${id}/suspend`, {
      token: platform.operatorToken,
    });
    await ada.page.getByRole('heading', { name: 'Good to see you' }).waitFor();
    await ada.page.getByRole('status').getByText('This account is suspended.').waitFor();
    await signIn(ada, own);
    const alert = ada.page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('This account is suspended.');
  });

  it('says that the connection is lost, and reconnects by itself', async ({ expect }) => {
    await using ada = await world.open();
    const own = accountOf('Ada', 'fifth');
    const stream = '**/app-notifications/stream';
    await ada.page.route(stream, (route) => route.abort());
    await signUp(ada, own);
    const lost = ada.page.getByText('The connection is lost.');
    await lost.waitFor();
    await world.ask(world.alan, own.username, 'While you were away');
    await ada.page.unroute(stream);
    await lost.waitFor({ state: 'detached', timeout: 60_000 });
    const link = ada.page.getByRole('link', { name: 'Notifications 1 unread' });
    await link.waitFor();
    expect(await lost.count()).toBe(0);
  });
});
