import { availableChromium } from '@kith/testing';
import { type Browser, chromium } from 'playwright-core';

/**
 * Returns a headless Chromium, or `undefined` if there is none on this machine. All test files of a run share a browser. The
 * test runner provides the shared browser, at the address KITH_TEST_DESK. Without this address, the caller gets a browser of
 * its own. The caller has to make a context in the browser for each visitor. Closing a shared browser only ends the caller's
 * connection to it.
 */
export async function sharedBrowser(): Promise<Browser | undefined> {
  const desk = process.env.KITH_TEST_DESK;
  if (!desk) {
    const launch = await availableChromium();
    return launch && chromium.launch(launch);
  }
  const answer = await fetch(`${desk}/browser`, { method: 'POST' });
  if (!answer.ok) throw new Error(`The test runner provided no browser: ${await answer.text()}`);
  const browser = (await answer.json()) as { endpoint: string } | null;
  return browser ? chromium.connect(browser.endpoint) : undefined;
}
