import { type Chromium, provideChromium } from '@kith/engines';

/**
 * Gives the Chromium that browser suites run in, ready for `chromium.launch()` of playwright-core. It is `undefined` if none can be
 * had, so that these suites are skipped. Under `CI=true` that is a failure.
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
