import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createOperatorClient } from '@kith/client/operator';
import { startPlatform, type TestPlatform } from '@kith/testing';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { readBlocks } from '../guide.ts';
import { keyPair } from '../keys.ts';
import { noteComplaints, openPage } from '../pages.ts';

/** A person with their own browser, on the page that uses the SDK. */
export interface FamilyVisitor extends AsyncDisposable {
  page: Page;
  /** Errors and warnings in the console. */
  complaints: string[];
  /** Evaluates an expression with the page's hooks (`sdk`). Returns what the expression resolves to. */
  ask<Answer>(expression: string): Promise<Answer>;
}

/** The published SDK on a platform of its own, set up as docs/client-family.md says. */
export interface FamilyWorld extends AsyncDisposable {
  platform: TestPlatform;
  projectId: string;
  /** The private key that belongs to the project's registered public key. */
  privateKey: string;
  visit(): Promise<FamilyVisitor>;
}

/** Starts only the embedded form, because pages get the same HTTP from both forms. */
export async function startFamily(browser: Browser): Promise<FamilyWorld> {
  await using starting = new AsyncDisposableStack();
  const platform = starting.use(await startPlatform());
  const { id: projectId } = platform.project;
  const { publicKey, privateKey } = keyPair();
  const operator = createOperatorClient({ url: platform.url, token: platform.operatorToken });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  await operator.projects.update({ projectId, publicKey: pem, publicProfiles: 'all' });
  const { origin } = starting.use(await servePage(platform.url));
  const undo = starting.move();
  return {
    platform,
    projectId,
    privateKey,
    async visit() {
      const context = await browser.newContext();
      const page = await context.newPage();
      const complaints: string[] = [];
      noteComplaints(page, complaints);
      page.on('pageerror', ({ message }) => complaints.push(message));
      await openPage(page, `${origin}/?project=${projectId}`);
      await page.waitForFunction('globalThis.sdk && !sdk.auth.loadingInitial');
      return {
        page,
        complaints,
        ask: (expression) => page.evaluate(expression),
        [Symbol.asyncDispose]: () => context.close(),
      };
    },
    [Symbol.asyncDispose]: () => undo.disposeAsync(),
  };
}

/** Serves the page at its own origin. The page includes the file that the guide shows. */
async function servePage(url: string): Promise<{ origin: string } & AsyncDisposable> {
  const [setup] = (await readBlocks('client-family.md')).filter(({ language }) => language === 'js');
  const contents = setup?.text.replace('http://127.0.0.1:8080', url) ?? '';
  if (!contents.includes(url)) throw new Error('docs/client-family.md has no file that names an address.');
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const built = await build({
    entryPoints: [`${folder}page.mjs`],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'the file of the guide',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^\.\/kith-client\.js$/ }, () => ({
            path: 'kith-client.js',
            namespace: 'guide',
          }));
          onLoad({ filter: /./, namespace: 'guide' }, () => ({ contents, resolveDir: folder }));
        },
      },
    ],
  });
  const script = built.outputFiles[0]?.text ?? '';
  const server = createServer(({ url: path }, response) => {
    const isScript = path === '/page.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    const html = '<!doctype html><title>Family</title><div id="page"></div>';
    response.end(isScript ? script : `${html}<script type="module" src="/page.js"></script>`);
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
