import { describe, expect, it, vi } from 'vitest';
import { type ClientOptions, createClient, type KithClient } from './client.ts';
import type { Session } from './session.ts';
import { unlessAborted } from './wait.ts';

const user = { name: 'Ada' } as Session['user'];
const project = {
  url: 'https://api.example.org',
  projectId: '0b9e5c1e-6c0f-4d0e-9f0a-2b1c3d4e5f60',
};

describe('a client', () => {
  it.each<[string, Partial<ClientOptions>]>([
    ['a longer time limit', { timeoutMs: 60_000 }],
    ['no time limit', { timeoutMs: Number.POSITIVE_INFINITY }],
    ['no retries', { retries: 0 }],
  ])('repeats a refresh within the grace period, even with %s', async (_, options) => {
    vi.useFakeTimers();
    let sent = 0;
    const kith = createClient({
      ...options,
      ...project,
      session: { accessToken: 'old', refreshToken: 'r', user },
      // The answer to the first attempt is lost.
      fetch(_, { signal }) {
        const answer = Response.json({ success: true, accessToken: 'new', refreshToken: 'next', user });
        const lost = new Promise<Response>(() => {});
        return ++sent === 1 ? unlessAborted(lost, signal as AbortSignal) : Promise.resolve(answer);
      },
    });
    const refreshed = kith.auth.refresh();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(sent).toBe(2);
    expect(await refreshed).toMatchObject({ refreshToken: 'next' });
  });

  it('counts the lifetime of a token from the first answer if the platform has repeated that answer', async () => {
    vi.useRealTimers();
    const exp = Math.floor(Date.now() / 1000) - 60;
    const payload = Buffer.from(JSON.stringify({ iat: exp - 1_800, exp })).toString('base64url');
    const answer = { success: true, accessToken: `e30.${payload}.x`, refreshToken: 'r', user };
    const kith = createClient({
      ...project,
      fetch: async () => Response.json(answer, { status: 201, headers: { 'Idempotency-Replayed': 'true' } }),
    });
    await kith.auth.signUp({ email: 'ada@example.org', password: 'correct horse' });
    expect(kith.session?.expiresAt).toBeUndefined();
  });

  it('repeats a visitor’s call without a user, even if users sign in meanwhile', async () => {
    vi.useFakeTimers();
    const sent: unknown[] = [];
    const kith: KithClient = createClient({
      ...project,
      async fetch(_, { headers }) {
        sent.push(new Headers(headers).get('authorization'));
        await kith.setSession({ accessToken: `of user ${sent.length}`, refreshToken: 'r', user });
        const refusal = { error: 'Too many requests.', code: 'rate-limit/exceeded' };
        return sent.length < 3 ? Response.json(refusal, { status: 429 }) : Response.json({ success: true });
      },
    });
    const verified = kith.auth.verifyEmail({ token: '123456' });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await verified).toEqual({ success: true });
    expect(sent).toEqual([null, null, null]);
  });
});
