import { afterEach, describe, expect, it, vi } from 'vitest';
import { KithError, type KithErrorCode, KithNetworkError } from './errors.ts';
import { backoff, retryDelay, withRetries } from './retry.ts';

const refusal = (status: number, code: KithErrorCode, retryAfterMs?: number) =>
  new KithError('No.', { status, code, retryAfterMs });
const broken = () => new KithNetworkError('Broken.', { isTimeout: false });

describe('what is tried again', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each<[string, () => unknown, boolean, boolean]>([
    ['any call over the limit', () => refusal(429, 'rate-limit/exceeded', 1_000), true, true],
    ['any call without an available service', () => refusal(503, 'gateway/unavailable', 1_000), true, true],
    ['only a safe call after a 503 of a proxy', () => refusal(503, 'client/unexpected-answer'), true, false],
    ['only a safe call after a timeout of the gateway', () => refusal(504, 'gateway/timeout'), true, false],
    ['only a safe call after a server error', () => refusal(500, 'connection/server-error'), true, false],
    ['only a safe call after a broken connection', broken, true, false],
    ['no call after a refusal', () => refusal(403, 'auth/forbidden'), false, false],
    ['no call after too many guesses', () => refusal(429, 'auth/too-many-attempts', 1_000), false, false],
    [
      'no call that has to wait for minutes',
      () => refusal(429, 'rate-limit/exceeded', 300_000),
      false,
      false,
    ],
    ['no call after an abort', () => new Error('left the page'), false, false],
    ['no call after a thrown value that is not an error', () => 'thrown', false, false],
  ])('%s', (_, error, read, write) => {
    expect(retryDelay(error(), 0, true) !== undefined).toBe(read);
    expect(retryDelay(error(), 0, false) !== undefined).toBe(write);
  });

  it('a retry waits as long as the platform asks, plus a growing backoff', () => {
    for (let failures = 0; failures < 20; failures++) {
      const delay = retryDelay(refusal(429, 'rate-limit/exceeded', 2_000), failures, false) ?? 0;
      expect(delay).toBeGreaterThanOrEqual(2_000);
      expect(delay).toBeLessThanOrEqual(2_000 + Math.min(8_000, 300 * 2 ** failures));
      expect(backoff(failures, 10, 100)).toBeLessThanOrEqual(Math.min(100, 10 * 2 ** failures));
    }
  });

  it('a call that an inner retry loop has given up is not tried again by the outer loop', async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts++;
      throw broken();
    };
    const inner = () => withRetries(attempt, { isSafe: () => true, retries: 1 });
    await expect(withRetries(inner, { isSafe: () => true, retries: 5 })).rejects.toThrow('Broken.');
    expect(attempts).toBe(2);
  });

  it('a call is tried again while its earlier attempt is running, for as long as an attempt may take', async () => {
    vi.useFakeTimers();
    const started = Date.now();
    const running = async (forMs: number) => {
      if (Date.now() - started < forMs) throw refusal(409, 'request/in-progress');
      return 'done';
    };
    const options = { isSafe: () => true, timeoutMs: 10_000 };
    const calls = Promise.allSettled([
      withRetries(() => running(8_000), { ...options, retries: 3 }),
      withRetries(() => running(Number.POSITIVE_INFINITY), { ...options, retries: 3 }),
      withRetries(() => running(8_000), { ...options, retries: 0 }),
    ]);
    await vi.runAllTimersAsync();
    const refused = { status: 'rejected', reason: { code: 'request/in-progress' } };
    expect(await calls).toMatchObject([{ value: 'done' }, refused, refused]);
    expect(Date.now() - started).toBeGreaterThanOrEqual(10_000);
  });

  it('the wait before a retry ends when the call is aborted', async () => {
    const controller = new AbortController();
    const late = refusal(503, 'gateway/unavailable', 20_000);
    const call = withRetries(() => Promise.reject(late), {
      isSafe: () => true,
      retries: 3,
      signal: controller.signal,
    });
    controller.abort(new Error('left the page'));
    await expect(call).rejects.toThrow('left the page');
  });
});
