import { type Chromium, provideChromium } from '@kith/engines';

/**
 * Provides the Chromium for browser tests, ready for `chromium.launch()` of playwright-core. If no Chromium can be provided,
 * resolves with `undefined`, so that these tests are skipped. With `CI=true`, rejects instead.
 */
export async function availableChromium(env: NodeJS.ProcessEnv = process.env): Promise<Chromium | undefined> {
  try {
    return await provideChromium({ env });
  } catch (error) {
    if (env.CI === 'true') throw error;
    process.stderr.write(`Suites in a browser are skipped: ${(error as Error).message}.\n`);
    return undefined;
  }
}
