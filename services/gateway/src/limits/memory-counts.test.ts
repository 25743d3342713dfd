import { beforeEach, describe, expect, it, vi } from 'vitest';
import { MemoryCounts } from './memory-counts.ts';

describe('counts in memory', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  const of = (key: string, max?: number) => ({
    key,
    windowSeconds: 60,
    ceiling: max === undefined ? null : { key: 'ceiling', max, windowSeconds: 10 },
  });

  it('begins a window with the first request of a key, and a new window after the end of the old one', () => {
    const counts = new MemoryCounts();
    expect(counts.count(of('a'))).toEqual({ isOverCeiling: false, used: 1, msLeft: 60_000 });
    vi.advanceTimersByTime(59_000);
    expect(counts.count(of('a'))).toEqual({ isOverCeiling: false, used: 2, msLeft: 1_000 });
    vi.advanceTimersByTime(1_000);
    expect(counts.count(of('a'))).toEqual({ isOverCeiling: false, used: 1, msLeft: 60_000 });
    counts.close();
  });

  it('makes no key for a request over the ceiling, and returns the time until the ceiling’s window ends', () => {
    const counts = new MemoryCounts();
    for (const key of ['a', 'b']) expect(counts.count(of(key, 2)).isOverCeiling).toBe(false);
    expect(counts.size).toBe(3);
    vi.advanceTimersByTime(4_000);
    for (const key of ['a', 'c', 'd']) {
      expect(counts.count(of(key, 2))).toEqual({ isOverCeiling: true, used: 0, msLeft: 6_000 });
    }
    expect(counts.size).toBe(3);
    vi.advanceTimersByTime(6_000);
    expect(counts.count(of('a', 2))).toEqual({ isOverCeiling: false, used: 2, msLeft: 50_000 });
    counts.close();
  });

  it('keeps only the latest keys when a table is full, but never drops a ceiling to keep the key of a pair', () => {
    const counts = new MemoryCounts({ pairs: 3, ceilings: 1 });
    counts.count(of('first', 100));
    for (const key of ['a', 'b', 'c', 'd']) counts.count(of(key));
    expect(counts.size).toBe(4);
    expect(counts.count(of('d')).used).toBe(2);
    expect(counts.count(of('first', 1)).isOverCeiling).toBe(true);
    counts.close();
  });

  it('forgets keys whose window is over', () => {
    const counts = new MemoryCounts();
    for (let n = 0; n < 100; n++) counts.count(of(`key-${n}`, 1_000));
    expect(counts.size).toBe(101);
    vi.advanceTimersByTime(90_000);
    expect(counts.size).toBe(0);
    counts.close();
  });
});
