// Starts at most 1 platform and no process.
import type { Bus } from '@kith/bus';
import { services } from '@kith/platform';
import { startPlatform } from '@kith/testing';
import { afterEach, expect, it, vi } from 'vitest';

afterEach(() => vi.restoreAllMocks());

// This test is about the embedded form. On NATS, each service signs in as a user of its own, and the rights of this user limit the
// service in the same way (tests/credentials.test.ts).
it('in the embedded form, a service may do only what its manifest allows', async () => {
  const starts = services.map((manifest) => vi.spyOn(manifest, 'start'));
  await using _platform = await startPlatform({ engine: 'embedded' });
  const buses = starts.map((start) => start.mock.lastCall?.[0].bus as Bus);
  expect(buses).toHaveLength(services.length);
  for (const [at, bus] of buses.entries()) {
    const consume = () => bus.consume({ durable: 'chaos-watch', subjects: [] }, async () => {});
    expect(consume).toThrow(`${services[at]?.name} may not consume events as chaos-watch.`);
  }
});
