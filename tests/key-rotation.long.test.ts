// Quick counterpart: services/identity/tests/operations/access-tokens.test.ts
import type { Session } from '@kith/contracts';
import { availableEngines, waitFor } from '@kith/testing';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { operatorToken, startAuthWorld } from './support/auth-world.ts';
import { http } from './support/http.ts';

interface Key {
  kid: string;
  state: string;
  createdAt: string;
  signsFrom: string;
}

describe.runIf(availableEngines().includes('containers'))('rotation of the signing key', () => {
  it('loses no request under load, with several replicas', async () => {
    const keyTimes = { announceMs: 10_000, reloadMs: 100, verifyMs: 20_000 };
    await using world = await startAuthWorld('containers', { keyTimes });
    await world.anotherIdentity();
    const second = await world.anotherGateway();
    const { id: projectId } = await world.createProject();
    const rotate = async () => {
      const path = '/admin/keys/rotate';
      const answer = await http(world.url, { method: 'POST', path, token: operatorToken });
      expect(answer.status).toBe(200);
      return (answer.json() as { keys: Key[] }).keys;
    };
    const published = async () => {
      const answer = await http(world.url, { path: '/.well-known/jwks.json' });
      return (answer.json() as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
    };

    const used = new Map<string, number>();
    /** For each key, the time in seconds at which its first token was signed. */
    const signedAt = new Map<string, number>();
    const failures: string[] = [];
    let isOver = false;
    await using ending = new AsyncDisposableStack();
    const load = async (url: string) => {
      let session: Pick<Session, 'accessToken' | 'refreshToken'> = await world.createUser(projectId);
      while (!isOver) {
        const { accessToken, refreshToken } = session;
        const kid = String(decodeProtectedHeader(accessToken).kid);
        const path = `/v7/${projectId}/auth`;
        const read = await http(url, { path: `${path}/sessions`, token: accessToken });
        const body = { refreshToken };
        const renewed = await http(url, { method: 'POST', path: `${path}/request-new-access-token`, body });
        for (const answer of [read, renewed]) {
          if (answer.status !== 200) failures.push(`${kid}: ${answer.status} ${answer.text}`);
        }
        if (failures.length > 0) return;
        used.set(kid, (used.get(kid) ?? 0) + 1);
        signedAt.set(kid, Math.min(signedAt.get(kid) ?? Infinity, decodeJwt(accessToken).iat ?? 0));
        session = renewed.json() as Session;
      }
    };
    const isUsed = (kid: string, times: number) => {
      expect(failures).toEqual([]);
      return (used.get(kid) ?? 0) >= times;
    };
    const [before = ''] = await published();
    const running = [world.url, second.url, world.url, second.url].map(load);
    const over = async () => {
      isOver = true;
      await Promise.allSettled(running);
    };
    ending.defer(over);
    await waitFor(() => isUsed(before, 5), { what: 'load' });

    const keys = await rotate();
    const timestamp = expect.stringMatching(/^\d{4}-.*Z$/);
    const times = { createdAt: timestamp, signsFrom: timestamp };
    expect(keys).toEqual([
      { kid: expect.any(String), state: 'published', ...times },
      { kid: before, state: 'signing', ...times },
    ]);
    const [{ kid: after, signsFrom } = { kid: '', signsFrom: '' }] = keys;
    expect(await rotate()).toEqual(keys);
    await waitFor(
      async () => (await Promise.all([1, 2, 3, 4].map(published))).every((kids) => kids.includes(after)),
      { what: 'the new key at every replica' },
    );

    await waitFor(() => isUsed(after, 1), { timeoutMs: 60_000, what: 'a token of the new key' });
    expect(signedAt.get(after)).toBeGreaterThanOrEqual(Math.floor(Date.parse(signsFrom) / 1000));
    const [current, former] = await rotate().then((all) => all.slice(-2));
    expect([current?.kid, current?.state, former?.kid, former?.state]).toEqual([
      after,
      'signing',
      before,
      'verifying',
    ]);
    await waitFor(() => isUsed(after, 5), { timeoutMs: 60_000, what: 'tokens of the new key' });
    await waitFor(async () => !(await published()).includes(before), {
      timeoutMs: 60_000,
      what: 'the end of the old key',
    });
    await over();
    await Promise.all(running);
    expect(failures).toEqual([]);
  }, 180_000);
});
