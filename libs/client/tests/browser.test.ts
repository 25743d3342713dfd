// Starts at most 1 platform and 1 process.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { TestPlatform } from '@kith/testing';
import { build } from 'esbuild';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPage } from '../../../tests/support/pages.ts';
import { sharedBrowser } from '../../../tests/support/shared-browser.ts';
import type { Control } from './support/control.ts';
import { testBehaviours } from './support/suite.ts';
import { type ClientWorld, reach, startLimited } from './support/world.ts';

const browser = await sharedBrowser();
afterAll(() => browser?.close());

/** Serves a page that loads the behaviours, from its own origin. */
async function servePage(): Promise<{ origin: string } & AsyncDisposable> {
  const entryPoints = [fileURLToPath(new URL('support/page.ts', import.meta.url))];
  const built = await build({ entryPoints, bundle: true, write: false, format: 'esm', platform: 'browser' });
  const script = built.outputFiles[0]?.text ?? '';
  const server = createServer(({ url }, response) => {
    const isScript = url === '/page.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe.skipIf(!browser)('the client in Chromium', () => {
  let platform: TestPlatform;
  let context: BrowserContext;
  let page: Page;
  let origin: string;
  const undo = new AsyncDisposableStack();
  /** The faulty proxies through which pages reach the platform. The keys are their addresses. */
  const worlds = new Map<string, ClientWorld>();
  const place = ({ url, projectId }: ClientWorld) => JSON.stringify({ url, projectId });
  const newTab = async () => {
    const tab = await context.newPage();
    await openPage(tab, origin);
    await tab.waitForFunction('globalThis.run');
    return tab;
  };
  beforeAll(async () => {
    platform = undo.use(await startLimited('embedded'));
    origin = undo.use(await servePage()).origin;
    context = await (browser as Browser).newContext();
    undo.defer(() => context.close());
    await context.exposeFunction('control', (url: string, name: keyof Control, args: never[]) =>
      (worlds.get(url) as ClientWorld).control[name](...(args as unknown as [never, never])),
    );
    page = await newTab();
  });
  afterAll(() => undo.disposeAsync());

  it('shares a session among tabs, which refresh it one at a time', async () => {
    await using world = await reach(platform);
    // The page and the platform have different origins.
    expect(origin).not.toBe(world.url);
    const tabs = [page, await newTab(), await newTab()] as const;
    for (const tab of tabs) await tab.evaluate(`open(${place(world)})`);
    const [first, second, third] = tabs;
    const { email, password } = await world.control.person('Ada');
    await first.evaluate(`kith.auth.signIn(${JSON.stringify({ email, password })}).then(() => undefined)`);
    for (const tab of [second, third]) await tab.waitForFunction('kith.session?.user.name === "Ada"');

    // The access token has expired, as it does after half an hour.
    await first.evaluate('kith.setSession({ ...kith.session, expiresAt: 0, accessToken: "ended" })');
    for (const tab of [second, third]) await tab.waitForFunction('kith.session.accessToken === "ended"');
    await world.control.seen();
    // The answers are delayed. Suppose that a tab does not wait for the other tabs. Then it sends its own request before the
    // first answer comes, and the test fails below.
    await world.control.fault({ match: 'request-new-access-token', times: 3, how: 'late' });
    const counts = await Promise.all(tabs.map((tab) => tab.evaluate('kith.connections.count()')));
    expect(counts).toEqual(Array(3).fill({ count: 0 }));
    const tokens = await Promise.all(tabs.map((tab) => tab.evaluate('kith.session.refreshToken')));
    expect(new Set(tokens).size).toBe(1);
    // There may be more than one request. A tab may notice late that another tab has stored a session. It then sends its own
    // request, and gets the same session.
    const seen = await world.control.seen();
    const refreshes = seen.filter(({ line }) => line.endsWith('/request-new-access-token'));
    expect(refreshes.length).toBeGreaterThan(0);
    for (const [index, { at }] of refreshes.entries()) {
      expect(at).toBeGreaterThanOrEqual(refreshes[index - 1]?.answeredAt ?? 0);
    }

    await third.reload();
    await third.waitForFunction('globalThis.run');
    await third.evaluate(`open(${place(world)})`);
    expect(await third.evaluate('kith.session.user.name')).toBe('Ada');
    await second.evaluate('kith.auth.signOut()');
    for (const tab of tabs) await tab.waitForFunction('kith.session === null');
    expect(await first.evaluate('reasons')).toEqual(expect.arrayContaining(['signed-in', 'elsewhere']));
  });

  testBehaviours({
    platform: () => platform,
    run(name, world) {
      worlds.set(world.url, world);
      return page.evaluate(`run(${JSON.stringify(name)}, ${place(world)})`);
    },
  });
});
