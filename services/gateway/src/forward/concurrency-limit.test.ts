import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ConcurrencyLimit } from './concurrency-limit.ts';

describe('the limit of requests under way', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));

  const begin = (limit: ConcurrencyLimit, count: number) =>
    Array.from({ length: count }, () => limit.begin());
  /** How many more requests the limit admits. */
  const room = (limit: ConcurrencyLimit) => {
    const begun: number[] = [];
    while (limit.admits() && begun.length < 10_000) begun.push(limit.begin());
    for (const number of begun) limit.end(number, 'failed');
    return begun.length;
  };

  /** Ends 500 requests as if the services had turned them away. */
  const refused = (limit: ConcurrencyLimit) => {
    for (let i = 0; i < 500; i++) limit.end(limit.begin(), 'shed');
  };

  it('does not exist until services turn many requests away, even if many requests fail for other reasons', () => {
    const limit = new ConcurrencyLimit();
    for (const number of begin(limit, 500)) limit.end(number, 'failed');
    // One of five replicas turns away every request.
    for (let i = 0; i < 500; i++) limit.end(limit.begin(), i % 5 === 0 ? 'shed' : 'answered');
    expect(room(limit)).toBe(10_000);
    expect(limit.isLimited).toBe(false);
  });

  it('falls once for requests that were under way together, and again for later requests', () => {
    const limit = new ConcurrencyLimit();
    const first = begin(limit, 1_000);
    for (const number of first.slice(0, 500)) limit.end(number, 'shed');
    for (const number of first.slice(500)) limit.end(number, 'failed');
    const once = room(limit);
    // The limit is four fifths of the requests that were under way when the first round was over.
    expect(once).toBe(Math.ceil(0.8 * (1_000 - 31)));
    const second = begin(limit, once);
    for (const number of second.slice(0, 100)) limit.end(number, 'shed');
    for (const number of second.slice(100)) limit.end(number, 'failed');
    expect(room(limit)).toBe(Math.ceil(0.8 * (once - 31)));
  });

  it('never falls below the lowest limit', () => {
    const limit = new ConcurrencyLimit();
    refused(limit);
    expect(room(limit)).toBe(32);
  });

  it('rises only while at least half of it is in use', () => {
    const limit = new ConcurrencyLimit();
    refused(limit);
    for (let i = 0; i < 500; i++) limit.end(limit.begin(), 'answered');
    expect(room(limit)).toBe(32);
    for (let round = 0; round < 20; round++) {
      for (const number of begin(limit, room(limit))) limit.end(number, 'answered');
    }
    expect(room(limit)).toBeGreaterThan(40);
  });

  it('is removed when it has not been reached for ten seconds', () => {
    const limit = new ConcurrencyLimit();
    refused(limit);
    vi.advanceTimersByTime(9_000);
    limit.end(limit.begin(), 'answered');
    expect(room(limit)).toBe(32);
    vi.advanceTimersByTime(9_000);
    // Nine seconds have passed since `room` reached the limit.
    limit.end(limit.begin(), 'answered');
    expect(limit.isLimited).toBe(true);
    vi.advanceTimersByTime(2_000);
    limit.end(limit.begin(), 'answered');
    expect(room(limit)).toBe(10_000);
  });
});
