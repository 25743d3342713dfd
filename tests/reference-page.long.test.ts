// Quick counterpart: services/gateway/tests/reference.test.ts
import { smallPng, startPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import about from '../package.json' with { type: 'json' };
import { noteComplaints, openPage, tellsOfNetwork } from './support/pages.ts';
import { sharedBrowser } from './support/shared-browser.ts';

const browser = await sharedBrowser();
afterAll(() => browser?.close());

// A busy machine needs seconds to draw the page. So each test checks as much as possible on a page that it has opened.
describe.skipIf(!browser)('the reference page in Chromium', { timeout: 300_000 }, () => {
  let platform: TestPlatform;
  let context: BrowserContext;
  let ada: TestUser;
  let grace: TestUser;
  beforeAll(async () => {
    platform = await startPlatform();
    ada = await platform.createUser({ name: 'Ada' });
    grace = await platform.createUser({ name: 'Grace' });
    await platform.connect(ada, grace, 'Hello');
    context = (await browser?.newContext({ viewport: { width: 1280, height: 844 } })) as BrowserContext;
    context.setDefaultTimeout(60_000);
  });
  afterAll(async () => {
    await context?.close();
    await platform?.stop();
  });

  /** Errors of pages, and requests to other servers. */
  const complaints: string[] = [];
  afterEach(() => {
    expect(complaints.splice(0)).toEqual([]);
  });

  async function open(address: string): Promise<Page> {
    const page = await context.newPage();
    noteComplaints(page, complaints);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => {
      const why = request.failure()?.errorText;
      // If the test leaves a page, the browser aborts the page's unfinished requests. Such a request is no mistake of the page.
      if (why !== 'net::ERR_ABORTED' && !tellsOfNetwork(why)) complaints.push(`failed: ${request.url()}`);
    });
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol !== 'data:' && url.origin !== platform.url) complaints.push(`elsewhere: ${url}`);
    });
    await openPage(page, new URL(address, platform.url).href);
    return page;
  }

  /** The part of the page that shows an operation. */
  const block = (page: Page, method: string, path: string) =>
    page.locator(`.opblock-${method}`, { has: page.locator(`[data-path="${path}"]`) });

  /** Opens the part of the page with the operations of a tag. */
  const openTag = (page: Page, tag: string) => page.locator(`.opblock-tag[data-tag="${tag}"]`).click();

  /** Opens the dialog that asks for tokens, and finds the field for a user's token. */
  async function tokenField(page: Page): Promise<Record<'input' | 'authorize' | 'close', Locator>> {
    await page.locator('.auth-wrapper .authorize').first().click();
    const user = page.locator('.auth-container').filter({ hasText: 'userToken' });
    await user.locator('input').waitFor();
    const close = page.locator('.btn-done').first();
    return { input: user.locator('input'), authorize: user.locator('button.authorize'), close };
  }
  const projectField = (operation: Locator) => operation.locator('tr[data-param-name="projectId"] input');

  async function expectToFit(page: Page, shown: string): Promise<void> {
    await page.locator(shown).first().waitFor();
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate('innerWidth')).toBe(width);
      const beyond = () => page.evaluate('document.documentElement.scrollWidth - innerWidth');
      await expect.poll(beyond).toBeLessThanOrEqual(0);
    }
  }

  it('leads from the `type` of an error to its code, and from a code to its operations; sends a request with a token', async () => {
    const refused = await fetch(`${platform.url}/nothing`, {
      headers: { accept: 'application/problem+json' },
    });
    const { type, code } = (await refused.json()) as { type: string; code: string };
    const page = await open(type);
    expect(await page.locator('section:target h2').innerText()).toBe(code);
    await openPage(page, `${platform.url}/docs/errors#collection/not-found`);
    await expectToFit(page, 'section:target');
    await openPage(page, `${platform.url}/docs/errors#collection/invalid-name`);
    await page.locator('section:target a', { hasText: 'collections.rename' }).click();
    const rename = block(page, 'patch', '/v7/{projectId}/collections/{collectionId}');
    await rename.locator('.opblock-body').waitFor();
    expect((await page.locator('.info .version').first().innerText()).trim()).toBe(about.version);

    await openTag(page, 'Connections');
    const operation = block(page, 'get', '/v7/{projectId}/connections');
    await operation.locator('.opblock-summary-control').click();
    // The page does not know any project yet.
    for (const shown of [rename, operation]) expect(await projectField(shown).inputValue()).toBe('');
    await operation.locator('tr[data-param-name="limit"] input').fill('7');
    const { input, authorize, close } = await tokenField(page);
    await input.fill(ada.accessToken);
    await authorize.click();
    await close.click();
    await waitFor(async () => (await projectField(operation).inputValue()) === ada.projectId);
    // The page does not change fields that are filled in already.
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

    // The page stores no token, so it has none after a reload. The address names the project, and the page fills in that project.
    const stored =
      'JSON.stringify([Object.keys(localStorage), Object.keys(sessionStorage), document.cookie])';
    expect(await page.evaluate(stored)).toBe('[[],[],""]');
    await openPage(page, `${platform.url}/docs?project=${ada.projectId}#/Users/identity.update-user`);
    await expectToFit(page, '.responses-inner');
    const again = await tokenField(page);
    expect(await again.input.inputValue()).toBe('');
    await again.close.click();
    await openTag(page, 'Connections');
    for (const path of ['/v7/{projectId}/connections', '/v7/{projectId}/blocks']) {
      const filled = block(page, 'get', path);
      await filled.locator('.opblock-summary-control').click();
      expect(await projectField(filled).inputValue()).toBe(ada.projectId);
    }
    await page.close();
  });

  it('sends a file that is chosen on the page, and the other fields of the form', async () => {
    const page = await open(`/docs?project=${ada.projectId}#/Files/storage.create-image`);
    const { input, authorize, close } = await tokenField(page);
    await input.fill(ada.accessToken);
    await authorize.click();
    await close.click();
    const field = (operation: Locator, name: string) =>
      operation.locator(`tr[data-property-name="${name}"] input:not([type=checkbox])`);
    const send = async (operation: Locator, file: { name: string; mimeType: string; buffer: Buffer }) => {
      await field(operation, 'file').setInputFiles(file);
      const answered = page.waitForResponse((response) => response.request().method() === 'POST');
      await operation.locator('button.execute').click();
      const answer = await answered;
      expect(await answer.text()).toContain('"fileId"');
      await operation.locator('.live-responses-table').waitFor();
      return answer.json();
    };
    const images = block(page, 'post', '/v7/{projectId}/storage/images');
    await images.locator('.opblock-body').waitFor();
    await field(images, 'sizes').fill('{"small":8}');
    await field(images, 'quality').fill('70');
    const image = await send(images, { name: 'a.png', mimeType: 'image/png', buffer: smallPng });
    expect(image).toMatchObject({ originalWidth: 16, quality: 70, variants: { small: { width: 8 } } });

    const files = block(page, 'post', '/v7/{projectId}/storage/files');
    await files.locator('.opblock-summary-control').click();
    const buffer = Buffer.from('Tape the bug into the book.');
    const file = await send(files, { name: 'notes.txt', mimeType: 'text/plain', buffer });
    expect(file).toMatchObject({ type: 'file', name: 'notes.txt', originalSize: 27 });
    await page.close();
  });

  it('does not fill in a project id that is not valid', async () => {
    const page = await open(`/docs?project=${encodeURIComponent('x" autofocus')}`);
    await expectToFit(page, '.opblock-tag');
    await openTag(page, 'Connections');
    const operation = block(page, 'get', '/v7/{projectId}/connections');
    await operation.locator('.opblock-summary-control').click();
    expect(await projectField(operation).inputValue()).toBe('');
    await page.close();
  });
});
