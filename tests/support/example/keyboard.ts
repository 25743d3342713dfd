import type { Page } from 'playwright-core';

const nameOfFocused = `(() => {
  const { activeElement: element } = document;
  return element.getAttribute('aria-label') ?? element.labels?.[0]?.innerText ?? element.innerText ?? '';
})()`;

/** Returns the name of the focused element. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(nameOfFocused);
}

/** Presses the tab key until an element with this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let steps = 0; steps < 40; steps++) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === name) return;
  }
  throw new Error(`The tab key does not lead to ${name}.`);
}
