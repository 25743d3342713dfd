import { readFile } from 'node:fs/promises';
import {
  availableChromium,
  availableEngines,
  startPlatform,
  type TestPlatform,
  type TestUser,
  waitFor,
} from '@kith/testing';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { noteComplaints, tellsOfNetwork } from './support/console-complaints.ts';

const installed = await availableChromium();

describe.skipIf(!installed).each(availableEngines())(
  'the reference page in Chromium (%s)',
  { timeout: 120_000 },
  (engine) => {
    let platform: TestPlatform;
    let browser: Browser;
    let ada: TestUser;
    let grace: TestUser;
    beforeAll(async () => {
      browser = await chromium.launch(installed);
      platform = await startPlatform({ engine });
      const { id } = await platform.createProject();
      ada = await platform.createUser(id, { name: 'Ada' });
      grace = await platform.createUser(id, { name: 'Grace' });
      await platform.connect(ada, grace, 'Hello');
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await platform?.stop();
    });

    /** What went wrong on pages, or away from this server. */
    const complaints: string[] = [];
    afterEach(() => {
      expect(complaints.splice(0)).toEqual([]);
    });

    async function open(path: string, viewport = { width: 1280, height: 900 }): Promise<Page> {
      const page = await browser.newPage({ viewport });
      page.setDefaultTimeout(60_000);
      noteComplaints(page, complaints);
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('requestfailed', (request) => {
        if (!tellsOfNetwork(request.failure()?.errorText)) complaints.push(`failed: ${request.url()}`);
      });
      page.on('request', (request) => {
        const url = new URL(request.url());
        if (url.protocol !== 'data:' && url.origin !== platform.url) complaints.push(`elsewhere: ${url}`);
      });
      await page.goto(platform.url + path);
      return page;
    }

    /** An operation as the page shows it. */
    const block = (page: Page, method: string, path: string) =>
      page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) });

    async function enterToken(page: Page, token: string): Promise<void> {
      await page.locator('.auth-wrapper .authorize').first().click();
      const user = page.locator('.auth-container').filter({ hasText: 'userToken' });
      await user.locator('input').fill(token);
      await user.locator('button.authorize').click();
      await page.locator('.btn-done').first().click();
    }
    const projectField = (operation: Locator) => operation.locator('tr[data-param-name="projectId"] input');

    it('has the packages’ version, takes a token, sends a request for its project, and shows the answer', async () => {
      const page = await open('/docs');
      const operation = block(page, 'get', '/v7/{projectId}/connections');
      await operation.locator('.opblock-summary-control').click();
      const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
      expect((await page.locator('.info .version').first().innerText()).trim()).toBe(version);
      // Nobody has said for which project it is.
      expect(await projectField(operation).inputValue()).toBe('');
      await operation.locator('tr[data-param-name="limit"] input').fill('7');
      await enterToken(page, ada.accessToken);
      await waitFor(async () => (await projectField(operation).inputValue()) === ada.projectId);
      // What is filled in already stays.
      expect(await operation.locator('tr[data-param-name="limit"] input').inputValue()).toBe('7');
      const sent = page.waitForRequest((request) => request.url().includes('/connections?'));
      await operation.locator('button.execute').click();
      expect((await sent).headers().authorization).toBe(`Bearer ${ada.accessToken}`);
      const answer = operation.locator('.live-responses-table');
      await answer.waitFor();
      expect(await answer.locator('.response-col_status').nth(1).innerText()).toMatch(/^200/);
      const shown = await answer.locator('.highlight-code').first().innerText();
      expect(shown).toContain(grace.id);
      expect(shown).toContain('"totalCount": 1');
      await page.close();
    });

    it('is filled with the project of its address', async () => {
      const page = await open(`/docs?project=${ada.projectId}`);
      for (const path of ['/v7/{projectId}/connections', '/v7/{projectId}/blocks']) {
        const operation = block(page, 'get', path);
        await operation.locator('.opblock-summary-control').click();
        expect(await projectField(operation).inputValue()).toBe(ada.projectId);
      }
      await page.goto(`${platform.url}/docs?project=${encodeURIComponent('x" autofocus')}`);
      const operation = block(page, 'get', '/v7/{projectId}/connections');
      await operation.locator('.opblock-summary-control').click();
      expect(await projectField(operation).inputValue()).toBe('');
      await page.close();
    });

    it('keeps no token', async () => {
      const page = await open('/docs');
      await page.locator('.auth-wrapper .authorize').first().click();
      const input = page.locator('.auth-container').filter({ hasText: 'userToken' }).locator('input');
      await input.fill(ada.accessToken);
      await page
        .locator('.auth-container')
        .filter({ hasText: 'userToken' })
        .locator('button.authorize')
        .click();
      const stored =
        'JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage), document.cookie])';
      expect(await page.evaluate(stored)).toBe('[[],[],""]');
      await page.reload();
      await page.locator('.auth-wrapper .authorize').first().click();
      await input.waitFor();
      expect(await input.inputValue()).toBe('');
      await page.close();
    });

    it.each([
      ['/docs', '.opblock-post'],
      ['/docs#/Users/identity.update-user', '.responses-inner'],
      ['/docs/errors#collection/not-found', 'section:target'],
    ])('fits screens of 390 and 1280 pixels: %s', async (path, shown) => {
      // One page for both: what it costs to draw all operations is seconds.
      const page = await open(path, { width: 390, height: 844 });
      await page.locator(shown).first().waitFor();
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        expect(await page.evaluate('innerWidth')).toBe(width);
        const beyond = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
        await expect.poll(beyond).toBeLessThanOrEqual(0);
      }
      await page.close();
    });

    it('leads from a problem to its code, and from there to who says it', async () => {
      const refused = await fetch(`${platform.url}/nothing`, {
        headers: { accept: 'application/problem+json' },
      });
      const { type, code } = (await refused.json()) as { type: string; code: string };
      const page = await open(type);
      expect(await page.locator('section:target h2').innerText()).toBe(code);
      await page.goto(`${platform.url}/docs/errors#collection/invalid-name`);
      await page.locator('section:target a', { hasText: 'collections.rename' }).click();
      const rename = block(page, 'patch', '/v7/{projectId}/collections/{collectionId}');
      await rename.locator('.opblock-body').waitFor();
      await page.close();
    });
  },
);
