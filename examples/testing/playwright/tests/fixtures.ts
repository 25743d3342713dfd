import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startPlatform, type TestPlatform } from '@kith/testing';
import { test as base } from '@playwright/test';

const files: Record<string, [name: string, type: string]> = {
  '/': ['index.html', 'text/html'],
  '/page.js': ['page.js', 'text/javascript'],
};

/** A `test` with two fixtures: a platform for each worker, and the address of a page that uses this platform. */
export const test = base.extend<{ address: string }, { platform: TestPlatform; origin: string }>({
  platform: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads what a fixture needs from its first parameter
    async ({}, use) => {
      await using platform = await startPlatform();
      await use(platform);
    },
    { scope: 'worker' },
  ],
  origin: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads what a fixture needs from its first parameter
    async ({}, use) => {
      const server = createServer(async ({ url = '/' }, response) => {
        const [name, type] = files[url.replace(/\?.*/, '')] ?? [];
        if (!name) return response.writeHead(404).end();
        response.setHeader('content-type', type ?? '');
        response.end(await readFile(new URL(`../app/${name}`, import.meta.url)));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      server.closeAllConnections();
      server.close();
    },
    { scope: 'worker' },
  ],
  address: async ({ platform, origin }, use) => {
    const query = new URLSearchParams({ api: platform.url, project: platform.project.id });
    await use(`${origin}/?${query}`);
  },
});
export { expect } from '@playwright/test';
