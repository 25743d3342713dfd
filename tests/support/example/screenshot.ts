import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const folder = fileURLToPath(new URL('../../../docs/images/', import.meta.url));

/** Writes a picture of a page for the README if `KITH_WRITE_SCREENSHOTS=1` is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env.KITH_WRITE_SCREENSHOTS !== '1') return;
  mkdirSync(folder, { recursive: true });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: `${folder}example-${name}.png` });
}
