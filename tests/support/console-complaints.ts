import type { Page } from 'playwright-core';

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
