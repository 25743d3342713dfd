// Quick counterpart: tests/photo.test.ts
// Starts at most 1 platform and 1 process.
import { waitFor } from '@kith/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { paleTexts } from './support/example/contrast.ts';
import { focused, tabTo } from './support/example/keyboard.ts';
import { screenshot } from './support/example/screenshot.ts';
import { desktop, phone, signIn } from './support/example/visitor.ts';
import { type ExampleWorld, startExample } from './support/example/world.ts';
import { sharedBrowser } from './support/shared-browser.ts';

const browser = await sharedBrowser();
afterAll(() => browser?.close());

describe.skipIf(!browser)(
  'the display of the example application',
  { timeout: 120_000, concurrent: true },
  () => {
    let world: ExampleWorld;
    beforeAll(async () => {
      world = await startExample(browser as Browser);
    }, 120_000);
    afterAll(() => world?.[Symbol.asyncDispose]());

    it('shows each error at the field that is wrong', async ({ expect }) => {
      await using visitor = await world.open();
      const { page } = visitor;
      await signIn(visitor, { email: 'nobody@example.com', password: 'wrong one' });
      await page.getByRole('alert').getByText('do not belong together').waitFor();
      expect(await page.getByLabel('E-mail address').inputValue()).toBe('nobody@example.com');

      await visitor.button('Create an account').click();
      await page.getByLabel('Name', { exact: true }).fill('Ada');
      await page.getByLabel('Username').fill('alan.demo');
      await page.getByText('It is taken.').waitFor();
      await page.getByLabel('E-mail address').fill(world.alan.email);
      await page.getByLabel('Password').fill('short');
      const wrong = page.locator('[aria-invalid=true]');
      await visitor.button('Create account').click();
      await expect.poll(() => wrong.getAttribute('name')).toBe('password');
      await page.getByLabel('Password').fill('long enough');
      await visitor.button('Create account').click();
      await page.getByText('There is an account with this e-mail address already.').waitFor();
      expect(await wrong.getAttribute('name')).toBe('email');
      await page.getByLabel('E-mail address').fill('new.person@example.com');
      expect(await wrong.count()).toBe(0);
      await visitor.button('Create account').click();
      await page.getByText('This username is taken.').waitFor();
      // The browser's console shows the refused requests, and must show nothing else.
      expect(visitor.complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
    });

    it('shows that a person was not found if the page’s address cannot be decoded', async ({ expect }) => {
      const user = await world.platform.createUser({ name: 'Reader' });
      await using visitor = await world.open();
      const { page } = visitor;
      await signIn(visitor, user);
      await page.getByRole('heading', { name: 'Find people' }).waitFor();
      await page.evaluate("location.hash = '#/people/%E4%B'");
      await page.getByText('This person is not here any more').waitFor();
      expect(visitor.complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
    });

    it('loads more of a long list when it is scrolled', async ({ expect }) => {
      const user = await world.platform.createUser({ name: 'Walker' });
      await world.befriend(
        user,
        Array.from({ length: 45 }, (_, index) => `Person ${String(index).padStart(2, '0')}`),
      );
      await using visitor = await world.open({ viewport: phone });
      const { page } = visitor;
      await signIn(visitor, user);
      await visitor.goTo('Connections');
      await page.getByText('45 connections').waitFor();
      const items = page.getByRole('list', { name: 'Your connections' }).getByRole('listitem');
      expect(await items.count()).toBeLessThan(45);
      await waitFor(
        async () => {
          await items.last().scrollIntoViewIfNeeded();
          return (await items.count()) === 45;
        },
        { what: 'the end of the list' },
      );
      expect(new Set(await items.locator('.person-name').allInnerTexts()).size).toBe(45);
      await page.getByRole('searchbox').fill('Person 07');
      await page.getByText('1 connection', { exact: true }).waitFor();
      expect(await items.count()).toBe(1);
      expect(visitor.complaints).toEqual([]);
    });

    it('shows every item of a list exactly once, even if the user scrolls while the list is loaded again', async ({
      expect,
    }) => {
      const user = await world.platform.createUser({ name: 'Scroller', username: 'scroller' });
      await world.befriend(
        user,
        Array.from({ length: 65 }, (_, index) => `Acquaintance ${String(index).padStart(2, '0')}`),
      );
      await using visitor = await world.open({ viewport: phone });
      const { page } = visitor;
      await signIn(visitor, user);
      await visitor.goTo('Connections');
      await page.getByText('65 connections').waitFor();
      const list = page.getByRole('list', { name: 'Your connections' });
      const items = list.getByRole('listitem');
      const scrollTo = (count: number) =>
        waitFor(
          async () => {
            await items.last().scrollIntoViewIfNeeded();
            return (await items.count()) >= count;
          },
          { what: `${count} items` },
        );
      const frames = () =>
        page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))');
      await scrollTo(40);
      await page.evaluate('scrollTo(0, 0)');
      await frames();
      await expect.poll(() => list.getAttribute('aria-busy')).toBe('false');
      const held: (() => Promise<void>)[] = [];
      await page.route(/\/connections\?/, (route) => {
        held.push(() => route.continue());
      });
      await world.ask(world.hedy, 'scroller', 'Hello');
      await expect.poll(() => held.length).toBe(1);
      await items.last().scrollIntoViewIfNeeded();
      await frames();
      const names = () => items.locator('.person-name').allInnerTexts();
      // Lets the first two pages of the new list arrive, and waits until the application requests the third page.
      for (const arrived of [1, 2]) {
        await held[arrived - 1]?.();
        await expect.poll(() => held.length).toBe(arrived + 1);
      }
      await frames();
      expect(new Set(await names()).size).toBe(await items.count());
      // From now on, requests are not held back any more. Removing the route also lets the held request for the third page
      // continue.
      await page.unroute(/\/connections\?/);
      await scrollTo(65);
      expect(new Set(await names()).size).toBe(65);
      expect(await items.count()).toBe(65);
      expect(visitor.complaints).toEqual([]);
    });

    it.for([
      ['desktop', desktop],
      ['phone', phone],
    ] as const)(
      'has enough contrast and fits the screen, in light and dark, on a %s',
      async ([device, viewport], { expect }) => {
        const ada = await world.platform.createUser({
          // If the search for `demo` below also found this name, it would find six people. The list of suggestions has room for
          // only five, and the other five people have to be in it.
          name: 'Ada Example',
          username: device === 'desktop' ? 'ada' : 'ada.example',
        });
        const { id: mentors } = await world.platform.createCollection(ada, 'Mentors');
        await world.platform.createCollection(ada, 'Reading group');
        await world.platform.connect(ada, world.alan);
        await world.platform.connect(world.hedy, ada);
        await world.ask(
          world.edith,
          ada.user.username ?? '',
          'We met at the workshop in May. I would like to hear more of it.',
        );
        await world.ask(ada, 'joan.demo', 'Do you still have the notes?');
        for (const entityId of [world.alan.id, world.edith.id]) {
          await world.platform.call('POST', `/v7/${world.projectId}/collections/${mentors}/entities`, {
            token: ada.accessToken,
            body: { entityId },
          });
        }
        await using visitor = await world.open({ viewport, deviceScaleFactor: device === 'phone' ? 2 : 1 });
        const { page } = visitor;
        const look = async (shown: string, pictures: Partial<Record<'light' | 'dark', string>> = {}) => {
          await page.getByText(shown).first().waitFor();
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            expect([shown, colorScheme, await paleTexts(page)]).toEqual([shown, colorScheme, []]);
            expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
            const name = pictures[colorScheme];
            if (name) await screenshot(page, `${name}-${device}-${colorScheme}`);
          }
        };
        await look('Good to see you');
        await signIn(visitor, ada);
        const isDesktop = device === 'desktop';
        await visitor.page.getByRole('searchbox').fill('demo');
        await visitor.button('Accept Edith Demo').waitFor();
        await look('Hops between', isDesktop ? { light: 'people' } : {});
        await visitor.goTo('Connections');
        await look('2 connections');
        await page.getByRole('link', { name: 'Requests' }).click();
        await look('We met at the workshop', isDesktop ? {} : { light: 'requests' });
        await visitor.goTo('Folders');
        await page.getByRole('link', { name: /^Mentors/ }).click();
        await page.getByRole('link', { name: 'Alan Demo' }).waitFor();
        await look('Saved just now', isDesktop ? { dark: 'folders' } : {});
        await visitor.goTo('Notifications');
        await look('Alan Demo accepted your request', isDesktop ? {} : { dark: 'notifications' });
        await page.getByRole('link', { name: 'Hedy Demo' }).click();
        await look('Vienna');
        await visitor.button('Save Hedy Demo to a folder').click();
        await look('Save Hedy Demo');
        await visitor.button('Done').click();
        await visitor.goTo('Account');
        await page.getByText('This one').waitFor();
        await look('Where you are signed in');
        await visitor.button('Delete my account').click();
        await look('Delete your account?');
        expect(visitor.complaints).toEqual([]);
      },
    );

    it('can be used by keyboard alone', async ({ expect }) => {
      const ada = await world.platform.createUser({ name: 'Ada Example' });
      await using visitor = await world.open();
      const { page } = visitor;
      const press = async (...keys: string[]) => {
        for (const key of keys) await page.keyboard.press(key);
      };
      await page.getByLabel('E-mail address').waitFor();
      await press('Tab');
      await page.keyboard.type(ada.email);
      await press('Tab');
      await page.keyboard.type(ada.password);
      await press('Enter');
      await page.getByRole('heading', { name: 'Find people' }).waitFor();
      await tabTo(page, 'Search by name or username');
      expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
      await page.keyboard.type('hedy');
      await visitor.button('Connect with Hedy Demo').waitFor();
      await tabTo(page, 'Connect with Hedy Demo');
      await press('Enter');
      await page.getByRole('dialog', { name: 'Connect with Hedy Demo' }).waitFor();
      await tabTo(page, 'Cancel');
      await press('Enter');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused(page)).toBe('Connect with Hedy Demo');
      await press('Enter');
      await page.getByRole('dialog').waitFor();
      await press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused(page)).toBe('Connect with Hedy Demo');
      await tabTo(page, 'Folders');
      await press('Enter');
      await page.getByRole('heading', { name: 'Folders' }).waitFor();
      expect(visitor.complaints).toEqual([]);
    });
  },
);
