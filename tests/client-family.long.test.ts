// Quick counterpart: tests/short-forms.test.ts
// Starts at most 1 platform and 1 process.
import type { AppNotification, Connection } from '@kith/contracts';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { type FamilyVisitor, type FamilyWorld, startFamily } from './support/family/world.ts';
import { openPage } from './support/pages.ts';
import { sharedBrowser } from './support/shared-browser.ts';

const browser = await sharedBrowser();
afterAll(() => browser?.close());

const password = 'correct horse battery';

// Tests the file that docs/client-family.md shows, and the hooks in the table of that document.
describe.skipIf(!browser)('the published SDK in Chromium', { timeout: 120_000, concurrent: true }, () => {
  let world: FamilyWorld;
  beforeAll(async () => {
    world = await startFamily(browser as Browser);
  }, 120_000);
  afterAll(() => world?.[Symbol.asyncDispose]());

  const heading = ({ page }: FamilyVisitor, name: string) =>
    page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const signUp = async (visitor: FamilyVisitor, name: string) => {
    const account = { email: `${name}@example.com`, password, name, username: name };
    await visitor.ask(`sdk.auth.signUpWithEmailAndPassword(${JSON.stringify(account)})`);
    await heading(visitor, name);
    return visitor.ask<{ id: string }>('sdk.me.user');
  };
  /** Fetches notifications until the page shows the notification with this text. */
  const notified = async ({ page, ask }: FamilyVisitor, text: string) => {
    const item = page.getByRole('list', { name: 'Notifications' }).getByText(text, { exact: true });
    for (;;) {
      await ask('sdk.notifications.resetAppNotifications()');
      if (await item.isVisible()) return;
    }
  };

  it('leads two people from sign-up to a connection and its notifications', async ({ expect }) => {
    await using ada = await world.visit();
    await using grace = await world.visit();
    const { id: adaId } = await signUp(ada, 'ada.one');
    const { id: graceId } = await signUp(grace, 'grace.one');
    expect(await ada.ask('sdk.project')).toEqual({ id: world.projectId, name: 'Test', integrations: [] });
    expect(await ada.ask("sdk.isFree({ username: 'Grace.One' })")).toEqual({ available: false });
    expect(await ada.ask("sdk.suggestions({ query: 'grace.o' })")).toMatchObject([{ id: graceId }]);
    expect(await ada.ask(`sdk.user({ userId: '${graceId}' })`)).toMatchObject({ username: 'grace.one' });

    const message = 'We met at the workshop.';
    const asked = await ada.ask(`sdk.request({ userId: '${graceId}', message: '${message}' })`);
    expect(asked).toMatchObject({ status: 'pending' });
    const waiting = { status: 'pending', type: 'sent' };
    expect(await ada.ask(`sdk.status({ userId: '${graceId}' })`)).toMatchObject(waiting);
    await notified(grace, 'connection-request of ada.one, new');
    const { requests } = await grace.ask<{ requests: { id: string }[] }>('sdk.received()');
    expect(requests).toMatchObject([{ user: { id: adaId }, message }]);
    await grace.ask(`sdk.accept({ connectionId: '${requests[0]?.id}' })`);
    await notified(ada, 'connection-accepted of grace.one, new');

    const lists = ['sdk.connections()', `sdk.connectionsOf({ userId: '${adaId}' })`];
    for (const list of lists) {
      const { connections } = await ada.ask<{ connections: Connection[] }>(list);
      expect(connections.map(({ connectedUser }) => connectedUser.name)).toEqual(['grace.one']);
    }
    for (const count of ['sdk.count()', `sdk.countOf({ userId: '${graceId}' })`])
      expect(await grace.ask(count)).toEqual({ count: 1 });

    await grace.page.reload();
    await heading(grace, 'grace.one');
    await grace.page.getByRole('status').getByText('1 unread').waitFor();
    const [first] = await grace.ask<AppNotification[]>('sdk.notifications.appNotifications');
    await grace.ask(`sdk.notifications.markNotificationAsRead('${first?.id}')`);
    await notified(grace, 'connection-request of ada.one');
    await ada.ask('sdk.notifications.markAllNotificationsAsRead()');
    await notified(ada, 'connection-accepted of grace.one');
    for (const visitor of [ada, grace]) {
      await visitor.page.reload();
      await visitor.page.getByRole('status').getByText('0 unread').waitFor();
    }
    expect([ada.complaints, grace.complaints]).toEqual([[], []]);
  });

  it('declines and withdraws requests, and ends connections', async ({ expect }) => {
    await using ada = await world.visit();
    await using grace = await world.visit();
    const { id: adaId } = await signUp(ada, 'ada.two');
    const { id: graceId } = await signUp(grace, 'grace.two');
    const status = async () => {
      const { status, type } = await ada.ask<Record<string, string>>(`sdk.status({ userId: '${graceId}' })`);
      return type ? `${status} ${type}` : status;
    };
    const { id: first } = await ada.ask<{ id: string }>(`sdk.request({ userId: '${graceId}' })`);
    await grace.ask(`sdk.decline({ connectionId: '${first}' })`);
    expect(await status()).toBe('declined sent');
    // A user who has declined a request may now send a request in the other direction.
    const { id: second } = await grace.ask<{ id: string }>(`sdk.request({ userId: '${adaId}' })`);
    expect(await status()).toBe('pending received');
    expect(await grace.ask('sdk.sent()')).toMatchObject({ requests: [{ id: second, user: { id: adaId } }] });
    await grace.ask(`sdk.remove({ connectionId: '${second}' })`);
    expect(await status()).toBe('none');
    const { id: third } = await ada.ask<{ id: string }>(`sdk.request({ userId: '${graceId}' })`);
    await grace.ask(`sdk.accept({ connectionId: '${third}' })`);
    expect(await status()).toBe('connected');
    const ended = await grace.ask(`sdk.removeUser({ userId: '${adaId}' })`);
    expect(ended).toMatchObject({ action: 'disconnect' });
    expect(await status()).toBe('none');
    expect([ada.complaints, grace.complaints]).toEqual([[], []]);
  });

  it('keeps entities in lists', async ({ expect }) => {
    await using ada = await world.visit();
    const { page, ask } = ada;
    await signUp(ada, 'ada.three');
    const shows = (name: string) => page.getByRole('heading', { level: 2, name, exact: true }).waitFor();
    await shows('root:');
    await ask("sdk.lists.createList({ listName: 'Reading' })");
    await shows('Reading:');
    await ask("sdk.lists.addToList({ entityId: 'first' })");
    await ask("sdk.lists.addToList({ entityId: 'second' })");
    await shows('Reading: first, second');
    expect(await ask("sdk.lists.isEntityInList('second')")).toBe(true);
    expect([await ask("sdk.isSaved('first')"), await ask("sdk.isSaved('third')")]).toEqual([true, false]);
    await ask("sdk.lists.updateList({ listId: sdk.lists.currentList.id, update: { name: 'Autumn' } })");
    await shows('Autumn: first, second');
    await ask("sdk.lists.removeFromList({ entityId: 'first' })");
    await shows('Autumn: second');
    // Reloads the page, so that it shows what the platform has stored, and not what the page still has in memory.
    await page.reload();
    await shows('root:');
    await page.getByRole('list', { name: 'Lists' }).getByText('Autumn').waitFor();
    await ask('sdk.lists.openList(sdk.lists.subLists[0])');
    await shows('Autumn: second');
    await ask('sdk.lists.deleteList({ list: sdk.lists.currentList })');
    await shows('root:');
    expect(await ask('sdk.lists.subLists')).toEqual([]);
    expect(ada.complaints).toEqual([]);
  });

  it('changes the profile and the password, keeps the session, and signs out', async ({ expect }) => {
    await using ada = await world.visit();
    const { page, ask } = ada;
    await signUp(ada, 'ada.four');
    await ask("sdk.me.updateUser({ name: 'Ada', birthdate: '1990-01-31', metadata: { team: 'blue' } })");
    await page.reload();
    await heading(ada, 'Ada');
    const profile = { name: 'Ada', birthdate: '1990-01-31', metadata: { team: 'blue' } };
    expect(await ask('sdk.me.user')).toMatchObject(profile);
    expect(ada.complaints).toEqual([]);

    // Each refresh sends the token that the previous refresh returned.
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/request-new-access-token')) sent.push(request.postData() ?? '');
    });
    for (const _ of [1, 2, 3]) expect(await ask('sdk.auth.requestNewAccessToken()')).toMatch(/^ey/);
    expect(new Set(sent).size).toBe(3);

    // Replaces the access token once by an invalid token. The platform refuses this token, as it refuses every access token
    // after half an hour.
    let refused = 0;
    await page.route('**/connections/count', (route) => {
      const headers = route.request().headers();
      const ended = route.request().method() === 'GET' && refused++ === 0;
      return route.continue(ended ? { headers: { ...headers, authorization: 'Bearer ended' } } : {});
    });
    expect(await ask('sdk.count()')).toEqual({ count: 0 });
    expect([refused, sent.length]).toEqual([2, 4]);

    const newPassword = 'battery horse correct';
    await ask(`sdk.auth.changePassword(${JSON.stringify({ password, newPassword })})`);
    await ask('sdk.auth.signOut()');
    await heading(ada, 'Signed out');
    await page.reload();
    await page.waitForFunction('globalThis.sdk && !sdk.auth.loadingInitial');
    await heading(ada, 'Signed out');
    const signIn = (word: string) =>
      ask(`sdk.auth.signInWithEmailAndPassword({ email: 'ada.four@example.com', password: '${word}' })`);
    await expect(signIn(password)).rejects.toThrow('401');
    await signIn(newPassword);
    await heading(ada, 'Ada');
  });

  it('keeps one session in two tabs', async ({ expect }) => {
    await using ada = await world.visit();
    await signUp(ada, 'ada.five');
    const tab = await ada.page.context().newPage();
    await openPage(tab, ada.page.url());
    await tab.getByRole('heading', { level: 1, name: 'ada.five', exact: true }).waitFor();
    const refresh = 'sdk.auth.requestNewAccessToken()';
    // The second tab must use the refresh token that the first tab has got. If the second tab still sent its own old token, the
    // platform would treat the old token as stolen.
    for (const _ of [1, 2, 3]) expect(await ada.ask(refresh)).toMatch(/^ey/);
    expect(await tab.evaluate(refresh)).toMatch(/^ey/);
    expect(await ada.ask(refresh)).toMatch(/^ey/);
    expect(ada.complaints).toEqual([]);
  });

  it('does not change the application’s own requests and their answers', async ({ expect }) => {
    await using ada = await world.visit();
    const { page, ask } = ada;
    await signUp(ada, 'ada.six');
    const session = () => ask<string>("localStorage.getItem('kith-session')");
    const before = await session();
    const tokens = { accessToken: 'own', refreshToken: 'own' };
    await page.route('**/own/**', (route) =>
      route.fulfill({ status: route.request().url().endsWith('/refused') ? 401 : 200, json: tokens }),
    );
    for (const path of ['sign-in', 'auth/sign-out']) {
      expect(await ask(`axios.post('/own/${path}').then(({ data }) => data)`)).toEqual(tokens);
      expect(await session()).toBe(before);
    }
    const refused = "axios.get('/own/refused', { headers: { Authorization: 'Bearer own' } })";
    expect(await ask(`${refused}.catch(({ response }) => response.status)`)).toBe(401);
    expect(await ask('sdk.count()')).toEqual({ count: 0 });
  });

  it('signs in a user of the application’s own backend', async ({ expect }) => {
    await using ada = await world.visit();
    const { projectId, privateKey } = world;
    const payload = { id: 'their-7', name: 'Hedy' };
    const asked = JSON.stringify({ projectId, privateKey, payload });
    const token = await ada.ask<string>(`sdk.sign(${asked})`);
    await ada.ask(`signInWith(${JSON.stringify(token)})`);
    await heading(ada, 'Hedy');
    await using grace = await world.visit();
    const found = await grace.ask("sdk.userByForeignId({ foreignId: 'their-7' })");
    expect(found).toMatchObject({ foreignId: 'their-7', name: 'Hedy' });
  });
});
