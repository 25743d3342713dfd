import { CannotOpen, Secrets } from '@kith/base';
import { availableEngines, sharedPlatform, type TestPlatform, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';
import { forgedToken, storedKeys } from './support/stored-keys.ts';

// spec#signing-keys-sealed
describe.each(availableEngines())('keys in a copy of the database (%s)', (engine) => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
  });
  afterAll(() => platform.stop());

  const sessionsOf = async (projectId: string, token: string) =>
    (await http(platform.url, { path: `/v7/${projectId}/auth/sessions`, token })).status;

  it('the stored keys cannot sign tokens without KITH_SECRET', async () => {
    const user = await platform.createUser();
    const stored = await storedKeys(platform);
    expect(stored.length).toBeGreaterThan(0);
    // The database contains no private member of a JWK, and no PEM.
    expect(JSON.stringify(stored)).not.toMatch(/"(d|p|q|dp|dq|qi)":|PRIVATE KEY/);
    const other = new Secrets('the secret of another installation');
    for (const { sealed, kid } of stored)
      expect(() => other.open('signing key', sealed, kid)).toThrow(CannotOpen);
    await expect(forgedToken(platform, user.accessToken, other)).rejects.toThrow(CannotOpen);
    expect(await sessionsOf(user.projectId, user.accessToken)).toBe(200);
  });

  it('a stored key can sign tokens with KITH_SECRET until it is revoked', async () => {
    const user = await platform.createUser();
    const forged = await forgedToken(platform, user.accessToken, new Secrets(platform.secret));
    expect(forged).not.toBe(user.accessToken);
    expect(await sessionsOf(user.projectId, forged)).toBe(200);
    const { kid } = JSON.parse(Buffer.from(forged.split('.')[0] ?? '', 'base64url').toString());
    const body = { kid };
    await platform.call('POST', '/admin/keys/revoke', { token: platform.operatorToken, body });
    const dead = async () => (await sessionsOf(user.projectId, forged)) === 401;
    await waitFor(dead, { what: 'the end of the forged token', timeoutMs: 10_000 });
    expect((await storedKeys(platform)).some((key) => key.kid === kid)).toBe(false);
  });
});
