import type { Page } from 'playwright-core';

/**
 * Refuses a page's GET requests to matching addresses, as the platform refuses a client that is over a limit. Returns a function
 * that ends this.
 */
export async function refuse(page: Page, addresses: RegExp): Promise<() => Promise<void>> {
  await page.route(addresses, (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    // The client does not repeat a request by itself if it would have to wait for this long.
    const headers = { 'retry-after': '200', 'access-control-expose-headers': 'Retry-After' };
    const json = { error: 'Too many requests.', code: 'rate-limit/exceeded' };
    return route.fulfill({ status: 429, headers, json });
  });
  return () => page.unroute(addresses);
}
