import { availableChromium } from '@kith/testing';
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'tests',
  fullyParallel: true,
  workers: 2,
  // Uses the Chromium of this machine; without this line it would be the one that `npx playwright install` brings.
  use: { launchOptions: (await availableChromium()) ?? {} },
});
