import { expect } from 'vitest';
import { samplesOf, scrape } from './scrape.ts';

/**
 * Runs `check`, which compares counts of requests. If the check fails, and a gateway has counted in its own memory meanwhile,
 * runs the check again. A gateway counts in its own memory when Redis takes longer than 100 ms, which happens on a busy
 * machine. Each check has to use a new project or a new client.
 */
export async function expectCounted(
  internalUrls: readonly string[],
  check: () => Promise<void>,
): Promise<void> {
  const missed = async () =>
    samplesOf(await scrape(internalUrls), 'kith_limiter_redis_errors_total').map(({ value }) => value);
  for (;;) {
    const before = await missed();
    expect(before.length).toBeGreaterThan(0);
    try {
      return await check();
    } catch (error) {
      if (String(await missed()) === String(before)) throw error;
    }
  }
}
