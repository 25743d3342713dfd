import { availableChromium } from '@kith/testing';
import { type Browser, chromium } from 'playwright-core';

/**
 * Connects to the headless Chromium that all test files of a run share. Returns `undefined` if there is no Chromium. Make a
 * context in the browser for each visitor. Closing the returned browser only ends the connection.
 */
export async function sharedBrowser(): Promise<Browser | undefined> {
  const desk = process.env.KITH_TEST_DESK;
  if (!desk) {
    const launch = await availableChromium();
    return launch && chromium.launch(launch);
  }
  const answer = await fetch(`${desk}/browser`, { method: 'POST' });
  if (!answer.ok) throw new Error(`No browser is available: ${await answer.text()}`);
  const browser = (await answer.json()) as { endpoint: string } | null;
  return browser ? chromium.connect(browser.endpoint) : undefined;
}
