import { beforeEach, describe, expect, it, vi } from 'vitest';
import { Admission } from './admission.ts';

describe('admission', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'] }));

  const in5s = () => Date.now() + 5_000;
  /** An `Admission` whose places are all taken. Its recent work took `workMs`. */
  const taken = async (atOnce: number, workMs: number) => {
    const admission = new Admission(atOnce);
    for (let i = 0; i < 500; i++) {
      expect(await admission.enter(in5s())).toBe(true);
      admission.leave(workMs);
    }
    for (let i = 0; i < atOnce; i++) expect(admission.enter(in5s())).toBe(true);
    return admission;
  };
  /** Ends a piece of work that took 100 ms. With four places, such work ends every 25 ms. */
  const end = (admission: Admission) => {
    vi.advanceTimersByTime(25);
    admission.leave(100);
  };
  /** Counts how many more operations may wait. */
  const waiting = (admission: Admission, deadline: number) => {
    for (let count = 0; ; count++) if (admission.enter(deadline) === false) return count;
  };

  it('admits as many operations at once as it has places, and then the others in the order in which they came', async () => {
    const admission = new Admission(2);
    const order: string[] = [];
    expect([admission.enter(in5s()), admission.enter(in5s())]).toEqual([true, true]);
    const others = ['third', 'fourth', 'fifth'].map(async (name) => {
      await admission.enter(in5s());
      order.push(name);
    });
    expect(order).toEqual([]);
    admission.leave(1);
    await others[0];
    expect(order).toEqual(['third']);
    admission.leave(1);
    admission.leave();
    await Promise.all(others);
    expect(order).toEqual(['third', 'fourth', 'fifth']);
    // Two operations have a place now. When one operation ends, its place is free.
    admission.leave(1);
    expect(admission.enter(in5s())).toBe(true);
  });

  it('lets a burst wait for at most half of the time until its deadline', async () => {
    // Four places with work of 100 ms each do 40 operations per second. In 2.5 s, the four operations at work can end, and
    // about 96 operations more.
    const admission = await taken(4, 100);
    const count = waiting(admission, in5s());
    expect(count).toBeGreaterThan(60);
    expect(count).toBeLessThanOrEqual(96);
    expect(waiting(await taken(4, 100), Date.now() + 1_000)).toBeLessThanOrEqual(16);
  });

  it('keeps a standing queue short, even if a place is free from time to time', async () => {
    const admission = await taken(4, 100);
    const most = waiting(admission, in5s());
    vi.advanceTimersByTime(1_001);
    for (let left = most; left > 0; left--) end(admission);
    // A standing queue may take a second, which is a fifth of the time until the deadline.
    const standing = waiting(admission, in5s());
    expect(standing).toBeGreaterThan(25);
    expect(standing).toBeLessThanOrEqual(36);
    for (let left = standing; left >= 0; left--) end(admission);
    vi.advanceTimersByTime(50);
    expect(admission.enter(in5s())).toBe(true);
    expect(waiting(admission, in5s())).toBeLessThanOrEqual(36);
  });

  it('accepts a burst again after a pause', async () => {
    const admission = await taken(4, 100);
    for (let i = 0; i < 41; i++) {
      end(admission);
      expect(admission.enter(in5s())).toBe(true);
    }
    const queued = waiting(admission, in5s());
    expect(queued).toBeLessThanOrEqual(36);
    for (let i = 0; i < queued + 4; i++) end(admission);
    vi.advanceTimersByTime(101);
    for (let i = 0; i < 4; i++) expect(admission.enter(in5s())).toBe(true);
    expect(waiting(admission, in5s())).toBeGreaterThan(60);
  });

  it('uses the time between the ends of operations if more places do not make work faster', async () => {
    const admission = await taken(4, 100);
    for (let i = 0; i < 200; i++) {
      void admission.enter(in5s());
      vi.advanceTimersByTime(100);
      admission.leave(400);
    }
    // Ten operations end each second, although each takes 400 ms.
    expect(waiting(admission, in5s())).toBeLessThanOrEqual(6);
    expect(waiting(admission, Date.now() + 20_000)).toBeLessThanOrEqual(37);
  });

  it('admits an operation that finds a free place, even if work takes very long', async () => {
    const admission = await taken(1, 60_000);
    expect(admission.enter(in5s())).toBe(false);
    admission.leave(60_000);
    expect(admission.enter(in5s())).toBe(true);
  });

  it('limits the queue even if it does not know yet how long work takes', () => {
    const admission = new Admission(2);
    admission.enter(in5s());
    admission.enter(in5s());
    expect(waiting(admission, in5s())).toBe(32);
  });
});
