// Starts at most 1 platform and 1 process.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
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

  const card = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });

  it('lets two people find each other, and each sees at once what the other does', async ({ expect }) => {
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

  it('withdraws, declines, blocks and unblocks', async ({ expect }) => {
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
    // Who has declined may ask.
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

  it('keeps people in folders, which are made, nested, renamed and deleted', async ({ expect }) => {
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
    // The address names the folder.
    await page.reload();
    await ada.button('Take Alan Demo out of Reading group').click();
    await page.getByText('Nobody is saved here yet').waitFor();
    await ada.button('Delete Reading group').click();
    await ada.button('Delete').click();
    await page.getByText('No folders yet.').waitFor();
    expect(ada.complaints).toEqual([]);
  });

  it('shows a folder as chosen while that is stored, whatever it is told of others meanwhile', async ({
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

  it('shares a session with the other tabs, keeps it over a reload, and ends it everywhere', async ({
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

  it('leads out whose account is suspended, and says so', async ({ expect }) => {
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

  it('says that the connection is lost, and goes on by itself', async ({ expect }) => {
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
