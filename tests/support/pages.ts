import type { Page, Request } from 'playwright-core';

/**
 * Opens an address in a page. If Chromium has given up a request because of a change of the network, the page can stay partly
 * empty. This is not the page's fault, so the address is opened again.
 */
export async function openPage(page: Page, address: string): Promise<void> {
  let gaveUp: boolean;
  const note = (request: Request) => {
    gaveUp ||= tellsOfNetwork(request.failure()?.errorText);
  };
  page.on('requestfailed', note);
  do {
    gaveUp = false;
    await page.goto(address).catch(async (error: Error) => {
      if (!tellsOfNetwork(error.message)) throw error;
      gaveUp = true;
      // Chromium opens its error page a moment later. This page would interrupt the next attempt.
      await page.waitForURL('chrome-error://**');
    });
  } while (gaveUp);
  page.off('requestfailed', note);
}

/** Records errors and warnings in a page's console. */
export function noteComplaints(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    const isComplaint = ['error', 'warning'].includes(message.type());
    if (isComplaint && !tellsOfNetwork(message.text())) complaints.push(message.text());
  });
}

/**
 * Whether Chromium has given up a request because a network interface of the machine came or went. This happens whenever
 * another suite starts or ends a container, and is not the page's fault.
 */
export function tellsOfNetwork(text: string | undefined): boolean {
  return text?.includes('ERR_NETWORK_CHANGED') ?? false;
}
