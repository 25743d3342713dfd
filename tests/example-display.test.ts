import { availableChromium, availableEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paleTexts } from './support/example/contrast.ts';
import { focused, tabTo } from './support/example/keyboard.ts';
import { screenshot } from './support/example/screenshot.ts';
import { desktop, phone, signIn } from './support/example/visitor.ts';
import { type ExampleWorld, startExample } from './support/example/world.ts';

const installed = await availableChromium();

describe.skipIf(!installed).each(availableEngines())(
  'how the example application shows itself (%s)',
  { timeout: 120_000 },
  (engine) => {
    let world: ExampleWorld;
    beforeAll(async () => {
      world = await startExample(engine, installed ?? {});
    }, 120_000);
    afterAll(() => world?.[Symbol.asyncDispose]());

    it('says what is wrong, where it is wrong', async () => {
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
      // The browser itself notes that answers were refusals; nothing else is wrong.
      expect(visitor.complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([]);
    });

    it('walks through a long list as it is scrolled', async () => {
      const user = await world.platform.createUser(world.projectId, { name: 'Walker' });
      for (let index = 0; index < 45; index++) {
        const name = `Person ${String(index).padStart(2, '0')}`;
        await world.platform.connect(user, await world.platform.createUser(world.projectId, { name }));
      }
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

    it.each([
      ['light', 'desktop', desktop],
      ['light', 'phone', phone],
      ['dark', 'desktop', desktop],
      ['dark', 'phone', phone],
    ] as const)('can be read and fits, in the %s on a %s', async (colorScheme, device, viewport) => {
      const ada = await world.platform.createUser(world.projectId, {
        // Not found by what is searched for: of those there are as many as are suggested.
        name: 'Ada Example',
        username: 'ada',
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
      await using visitor = await world.open({
        colorScheme,
        viewport,
        deviceScaleFactor: device === 'phone' ? 2 : 1,
      });
      const { page } = visitor;
      const look = async (shown: string, name?: string) => {
        await page.getByText(shown).first().waitFor();
        expect([shown, await paleTexts(page)]).toEqual([shown, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
        if (name && engine === 'embedded') await screenshot(page, `${name}-${device}-${colorScheme}`);
      };
      await look('Good to see you');
      await signIn(visitor, ada);
      const isDesktop = device === 'desktop';
      await visitor.page.getByRole('searchbox').fill('demo');
      await visitor.button('Accept Edith Demo').waitFor();
      await look('Hops between', isDesktop && colorScheme === 'light' ? 'people' : undefined);
      await visitor.goTo('Connections');
      await look('2 connections');
      await page.getByRole('link', { name: 'Requests' }).click();
      await look('We met at the workshop', !isDesktop && colorScheme === 'light' ? 'requests' : undefined);
      await visitor.goTo('Folders');
      await page.getByRole('link', { name: /^Mentors/ }).click();
      await page.getByRole('link', { name: 'Alan Demo' }).waitFor();
      await look('Saved just now', isDesktop && colorScheme === 'dark' ? 'folders' : undefined);
      await visitor.goTo('Notifications');
      await look(
        'Alan Demo accepted your request',
        !isDesktop && colorScheme === 'dark' ? 'notifications' : undefined,
      );
      await page.getByRole('link', { name: 'Hedy Demo' }).click();
      await look('Vienna');
      await visitor.button('Save Hedy Demo to a folder').click();
      await look('Save Hedy Demo');
      expect(visitor.complaints).toEqual([]);
      // The next one is called the same.
      await world.platform.call('DELETE', `/v7/${world.projectId}/users/${ada.id}`, {
        token: ada.accessToken,
      });
    });

    it('can be used by keyboard alone', async () => {
      const ada = await world.platform.createUser(world.projectId, { name: 'Ada Demo' });
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
