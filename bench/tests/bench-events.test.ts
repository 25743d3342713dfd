import { eventSchema, userCreated, userUpdated } from '@kith/contracts';
import { describe, expect, it } from 'vitest';
import { Lags } from '../src/events/lags.ts';
import { halves } from '../src/events/measure.ts';
import { userEvent } from '../src/events/user-events.ts';

describe('the events of the benchmark', () => {
  it('userEvent() makes valid events: for each user a creation and then changes with consecutive numbers', () => {
    const events = Array.from({ length: 12_000 }, (_, at) => userEvent(at));
    const byUser = Map.groupBy(events, ({ aggregate }) => aggregate.id);
    expect(byUser.size).toBe(3_000);
    for (const [id, own] of byUser) {
      expect(own.map(({ aggregate }) => aggregate.seq)).toEqual(own.map((_, at) => at + 1));
      expect(own.map(({ type }) => type)).toEqual(
        own.map((_, at) => (at === 0 ? userCreated : userUpdated).type),
      );
      expect(own.length).toBeLessThanOrEqual(5);
      expect(own[0]?.data).toMatchObject({ id });
    }
    expect(() => eventSchema(userCreated).parse(events[0])).not.toThrow();
    expect(() => eventSchema(userUpdated).parse(events[1_000])).not.toThrow();
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  });

  it('Lags measures the time from the occurrence of an event to its application, and take() resets the figures', () => {
    const lags = new Lags(200);
    for (let at = 0; at < 200; at++) lags.applied(1_000, 1_000 + at * 10);
    expect(lags.take()).toEqual({ count: 200, seconds: 1.99, p50: 1_000, p99: 1_980, max: 1_990 });
    // If the consumer's clock is behind, an event seems to come from the future. Its lag then counts as 0, not as a negative
    // time.
    lags.applied(5_000, 4_000);
    expect(lags.take()).toEqual({ count: 1, seconds: 0, p50: 0, p99: 0, max: 0 });
    expect(lags.count).toBe(0);
  });

  it('halves() returns the medians of both halves of the samples, without the first tenth', () => {
    const growing = [50, 50, ...Array.from({ length: 18 }, (_, at) => at + 1)];
    expect(halves(growing)).toEqual({ first: 5, second: 14 });
    // A single outlier does not change either median.
    growing[19] = 9_000;
    expect(halves(growing)).toEqual({ first: 5, second: 14 });
  });
});
