import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { availableChromium } from '@kith/testing';
import { build } from 'esbuild';
import { type BrowserContext, chromium as launcher, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BehaviourName } from './support/behaviours.ts';
import type { Control } from './support/control.ts';
import { testBehaviours } from './support/suite.ts';
import { type ClientWorld, startWorld } from './support/world.ts';

const chromium = await availableChromium();

/** Serves a page that loads the behaviours, from an origin of its own. */
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

describe.runIf(chromium)('the client in Chromium', () => {
  let world: ClientWorld;
  let context: BrowserContext;
  let page: Page;
  let origin: string;
  const undo = new AsyncDisposableStack();
  const place = () => JSON.stringify({ url: world.url, projectId: world.projectId });
  const newTab = async () => {
    const tab = await context.newPage();
    await tab.goto(origin);
    await tab.waitForFunction('globalThis.run');
    return tab;
  };
  beforeAll(async () => {
    world = undo.use(await startWorld('embedded'));
    origin = undo.use(await servePage()).origin;
    const browser = await launcher.launch(chromium);
    undo.defer(() => browser.close());
    context = await browser.newContext();
    await context.exposeFunction('control', (name: keyof Control, args: never[]) =>
      (world.control[name] as (...words: never[]) => unknown)(...args),
    );
    page = await newTab();
  });
  afterAll(() => undo.disposeAsync());

  it('calls from another origin than the platform’s', () => {
    expect(origin).not.toBe(world.url);
  });

  it('shares a session among tabs, which refresh it one at a time', async () => {
    const tabs = [page, await newTab(), await newTab()] as const;
    for (const tab of tabs) await tab.evaluate(`open(${place()})`);
    const [first, second, third] = tabs;
    const { email, password } = await world.control.person('Ada');
    await first.evaluate(`kith.auth.signIn(${JSON.stringify({ email, password })}).then(() => undefined)`);
    for (const tab of [second, third]) await tab.waitForFunction('kith.session?.user.name === "Ada"');

    // As after half an hour: the access token has ended.
    await first.evaluate('kith.setSession({ ...kith.session, expiresAt: 0, accessToken: "ended" })');
    for (const tab of [second, third]) await tab.waitForFunction('kith.session.accessToken === "ended"');
    await world.control.seen();
    const counts = await Promise.all(tabs.map((tab) => tab.evaluate('kith.connections.count()')));
    expect(counts).toEqual(Array(3).fill({ count: 0 }));
    const tokens = await Promise.all(tabs.map((tab) => tab.evaluate('kith.session.refreshToken')));
    expect(new Set(tokens).size).toBe(1);
    // A tab may see a moment later what another has stored: then it asks, too, and is given the same session.
    const seen = await world.control.seen();
    const refreshes = seen.filter(({ line }) => line.endsWith('/request-new-access-token'));
    expect(refreshes.length).toBeGreaterThan(0);
    for (const [index, { at }] of refreshes.entries()) {
      expect(at).toBeGreaterThanOrEqual(refreshes[index - 1]?.answeredAt ?? 0);
    }

    await third.reload();
    await third.waitForFunction('globalThis.run');
    await third.evaluate(`open(${place()})`);
    expect(await third.evaluate('kith.session.user.name')).toBe('Ada');
    await second.evaluate('kith.auth.signOut()');
    for (const tab of tabs) await tab.waitForFunction('kith.session === null');
    expect(await first.evaluate('reasons')).toEqual(expect.arrayContaining(['signed-in', 'elsewhere']));
  });

  testBehaviours((name: BehaviourName) => page.evaluate(`run(${JSON.stringify(name)}, ${place()})`));
});
