import { availableChromium } from '@kith/testing';
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'tests',
  fullyParallel: true,
  workers: 2,
  // Uses the Chromium of this machine. Without this line, Playwright would use the Chromium that `npx playwright install` installs.
  use: { launchOptions: (await availableChromium()) ?? {} },
});
