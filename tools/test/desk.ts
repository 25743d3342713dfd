import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname } from 'node:path';
import { availableChromium, type SharedPlatform, sharedEnv, startPlatform } from '@kith/testing';
import { chromium } from 'playwright-core';

/**
 * What the test files of a run share. The files of one worker share a distributed platform. The files of all workers share one
 * browser.
 */
export interface Desk extends AsyncDisposable {
  url: string;
}

/**
 * Serves the shared platforms and the browser. Starts each of them when it is requested for the first time. Disposing the desk
 * ends all of them.
 */
export async function openDesk(): Promise<Desk> {
  await using opening = new AsyncDisposableStack();
  const running = new AsyncDisposableStack();
  opening.use(running);
  const started = new Map<string, Promise<unknown>>();
  const start = async (path: string): Promise<unknown> => {
    if (path === '/browser') return startBrowser(running);
    if (path.startsWith('/platforms/')) return startShared(running);
    throw new Error(`The desk has no ${path}.`);
  };
  const server = createServer(async ({ url: path = '' }, response) => {
    try {
      const starting = started.get(path) ?? start(path);
      started.set(path, starting);
      // After a start that failed, the next file tries again.
      starting.catch(() => started.delete(path));
      response.end(JSON.stringify(await starting));
    } catch (error) {
      response.writeHead(500).end((error as Error).stack);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opening.defer(() => void server.closeAllConnections());
  opening.defer(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const open = opening.move();
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

async function startShared(running: AsyncDisposableStack): Promise<SharedPlatform> {
  const platform = running.use(await startPlatform({ engine: 'containers', env: sharedEnv }));
  const { url, operatorToken, secret, prefix, internalUrls, dataFolder } = platform;
  return { url, operatorToken, secret, prefix, internalUrls, folder: dirname(dataFolder) };
}

async function startBrowser(running: AsyncDisposableStack): Promise<{ endpoint: string } | null> {
  const launch = await availableChromium();
  if (!launch) return null;
  const server = await chromium.launchServer({ ...launch, host: '127.0.0.1' });
  running.defer(() => server.close());
  return { endpoint: server.wsEndpoint() };
}
