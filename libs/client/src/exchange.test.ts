import { describe, expect, it, vi } from 'vitest';
import { exchange } from './exchange.ts';
import { unlessAborted } from './wait.ts';

const request = { method: 'GET', address: 'https://api.example.org', body: undefined };

describe('an exchange', () => {
  it.each([Number.POSITIVE_INFINITY, 2 ** 31])(
    'still waits for its answer after a day if its time limit is %s ms',
    async (timeoutMs) => {
      vi.useFakeTimers();
      const answer = Promise.withResolvers<Response>();
      const answered = exchange(request, {
        token: undefined,
        timeoutMs,
        fetch: (_, { signal }) => unlessAborted(answer.promise, signal as AbortSignal),
      });
      await vi.advanceTimersByTimeAsync(24 * 3_600_000);
      answer.resolve(Response.json({ count: 1 }));
      expect(await answered).toMatchObject({ body: { count: 1 } });
    },
  );
});
