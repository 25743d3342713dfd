import { describe, expect, it, vi } from 'vitest';
import { ApiError } from './errors.ts';
import { Turns } from './turns.ts';
import { untilMade } from './until-made.ts';

describe('a change that loses a race against other changes', () => {
  it('is tried again until it wins', async () => {
    let attempts = 0;
    const attempt = async () => (++attempts < 4 ? undefined : { result: attempts });
    expect(await untilMade(attempt)).toBe(4);
  });

  it('is refused before the deadline, with an error that says that nothing was changed', async () => {
    vi.useFakeTimers();
    const deadline = Date.now() + 400;
    const attempt = () => new Promise<undefined>((resolve) => setTimeout(resolve, 10, undefined));
    let at = deadline;
    const answered = untilMade(attempt, { deadline }).finally(() => {
      at = Date.now();
    });
    const refused = expect(answered).rejects.toMatchObject({ code: 'gateway/unavailable' });
    await vi.advanceTimersByTimeAsync(400);
    await refused;
    expect(at).toBeLessThan(deadline);
  });

  it('waits for its turn among such changes of the same process when it is tried again', async () => {
    const turns = new Turns();
    const inTurn = (work: () => Promise<number>) => turns.run(['one'], work);
    let atOnce = 0;
    const both = [0, 1].map(() => {
      let attempts = 0;
      return untilMade(
        async () => {
          if (++attempts === 1) return undefined;
          atOnce++;
          await new Promise((resolve) => setTimeout(resolve, 5));
          const result = atOnce--;
          return attempts < 4 ? undefined : { result };
        },
        { inTurn },
      );
    });
    expect(await Promise.all(both)).toEqual([1, 1]);
  });

  it('fails with the error that its attempt throws', async () => {
    const attempt = () => Promise.reject(new ApiError('user/not-found'));
    await expect(untilMade(attempt)).rejects.toMatchObject({ code: 'user/not-found' });
  });
});
