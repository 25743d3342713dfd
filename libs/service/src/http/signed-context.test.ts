import { Secrets } from '@kith/base';
import { describe, expect, it, vi } from 'vitest';
import { longestLifeMs, signContext, verifiedContext } from './signed-context.ts';

const [old, recent] = ['a secret of at least 32 characters', 'another secret of that many characters'];
const secrets = new Secrets(old);
const signed = { method: 'GET', path: '/a/b', operation: 'storage.get-file' };
const context = { requestId: 'r', projectId: 'p', params: { a: 'b' } };

/** Signs with the clock stopped at `now`. */
function signAt(now: number): { headers: Record<string, string>; end: number } {
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now);
  try {
    const headers = signContext(secrets, signed, context);
    return { headers, end: Number(headers['kith-signature']?.split('.')[0]) };
  } finally {
    clock.mockRestore();
  }
}

describe('a signed context', () => {
  it('is accepted only while it is valid, and only if its validity ends within a minute', () => {
    const { headers, end } = signAt(1_000_000_000_000);
    const at = (now: number) => verifiedContext(secrets, signed, headers, now)?.requestId;
    expect(end).toBe(1_000_000_030_000);
    expect([at(end - longestLifeMs), at(end - 1)]).toEqual(['r', 'r']);
    expect([at(end - longestLifeMs - 1), at(end), at(end + 1)]).toEqual([undefined, undefined, undefined]);
  });

  it('is accepted only for the method, path and operation that were signed', () => {
    const { headers } = signAt(Date.now());
    expect(verifiedContext(secrets, signed, headers)).toMatchObject(context);
    for (const changed of [{ method: 'HEAD' }, { path: '/a/c' }, { operation: 'storage.create-file' }]) {
      expect(verifiedContext(secrets, { ...signed, ...changed }, headers)).toBeUndefined();
    }
    expect(verifiedContext(new Secrets(recent), signed, headers)).toBeUndefined();
  });

  it('stays valid while processes change to another secret, in any order', () => {
    const stages = [secrets, new Secrets(recent, [old]), new Secrets(recent)];
    for (const [at, gateway] of stages.entries()) {
      const headers = signContext(gateway, signed, context);
      for (const service of [at - 1, at, at + 1].flatMap((stage) => stages[stage] ?? [])) {
        expect(verifiedContext(service, signed, headers)).toMatchObject(context);
      }
    }
  });
});
