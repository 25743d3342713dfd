import { afterEach, expect, it, vi } from 'vitest';
import { LogPace } from './log-pace.ts';

afterEach(() => void vi.useRealTimers());

it('each failure is logged at most once a minute, with the number of failures that were not logged', () => {
  vi.useFakeTimers();
  const pace = new LogPace();
  expect([pace.next('a'), pace.next('a'), pace.next('b'), pace.next('a')]).toEqual([
    { unlogged: 0 },
    undefined,
    { unlogged: 0 },
    undefined,
  ]);
  vi.advanceTimersByTime(59_999);
  expect(pace.next('a')).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect([pace.next('a'), pace.next('b')]).toEqual([{ unlogged: 3 }, { unlogged: 0 }]);
});
