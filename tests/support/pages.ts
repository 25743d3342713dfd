import type { Page, Request } from 'playwright-core';

/**
 * Opens an address in a page, again if Chromium gave up a request of it for a change of the network: what stays empty for
 * that is not the page's fault.
 */
export async function openPage(page: Page, address: string): Promise<void> {
  let gaveUp: boolean;
  const note = (request: Request) => {
    gaveUp ||= tellsOfNetwork(request.failure()?.errorText);
  };
  page.on('requestfailed', note);
  do {
    gaveUp = false;
    await page.goto(address).catch((error: Error) => {
      if (!tellsOfNetwork(error.message)) throw error;
      gaveUp = true;
    });
  } while (gaveUp);
  page.off('requestfailed', note);
}

/** Notes what a page's console complains of. */
export function noteComplaints(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    const isComplaint = ['error', 'warning'].includes(message.type());
    if (isComplaint && !tellsOfNetwork(message.text())) complaints.push(message.text());
  });
}

/**
 * Whether Chromium has given up a request because an interface of the machine came or went, as one does with each container
 * of another suite. That is no fault of the page.
 */
export function tellsOfNetwork(text: string | undefined): boolean {
  return text?.includes('ERR_NETWORK_CHANGED') ?? false;
}
