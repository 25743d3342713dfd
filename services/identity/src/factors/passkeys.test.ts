import { SoftwarePasskey } from '@kith/testing';
import { expect, it } from 'vitest';
import { challengeHashOf, makeChallenge, verifyNewPasskey, verifyPasskey } from './passkeys.ts';

const rpId = 'app.example.com';
const webOrigins = [`https://${rpId}`];

it('every signature of a passkey is accepted, even if its numbers begin with zeros', async () => {
  const passkey = new SoftwarePasskey(`https://${rpId}`);
  const { challenge, hash: challengeHash } = makeChallenge();
  const expected = { challengeHash, rpId, webOrigins };
  const made = await verifyNewPasskey(passkey.create({ challenge, rp: { id: rpId, name: 'App' } }), expected);
  if (!made) throw new Error('The passkey was refused.');
  let { counter } = made;
  const factor = { ...made, id: '1', type: 'passkey' as const, name: null, createdAt: 0, lastUsedAt: null };
  // One number in 256 begins with a zero byte. So 300 signatures almost certainly contain such a number.
  for (let count = 0; count < 300; count++) {
    const shown = passkey.get({ challenge, rpId });
    expect(challengeHashOf(shown)).toBe(challengeHash);
    const next = await verifyPasskey(shown, { ...factor, counter }, expected);
    expect([count, next]).toEqual([count, counter + 1]);
    counter += 1;
  }
});

it.each([
  { crossOrigin: true },
  { crossOrigin: true, topOrigin: 'https://other.example' },
  { crossOrigin: false, topOrigin: 'https://other.example' },
  { crossOrigin: 'true' },
])('a passkey is refused if the page is framed by another page: %j', async (client) => {
  const passkey = new SoftwarePasskey(`https://${rpId}`);
  const { challenge, hash: challengeHash } = makeChallenge();
  const expected = { challengeHash, rpId, webOrigins };
  const wanted = { challenge, rp: { id: rpId, name: 'App' } };
  expect(await verifyNewPasskey(passkey.create(wanted, { client }), expected)).toBeNull();
  const made = await verifyNewPasskey(
    passkey.create(wanted, { client: { crossOrigin: undefined } }),
    expected,
  );
  if (!made) throw new Error('The passkey was refused.');
  const factor = { ...made, id: '1', type: 'passkey' as const, name: null, createdAt: 0, lastUsedAt: null };
  expect(await verifyPasskey(passkey.get({ challenge, rpId }, { client }), factor, expected)).toBeNull();
  expect(await verifyPasskey(passkey.get({ challenge, rpId }), factor, expected)).toBeGreaterThan(0);
});

it('a new passkey is refused if the user was not present', async () => {
  const passkey = new SoftwarePasskey(`https://${rpId}`);
  const { challenge, hash: challengeHash } = makeChallenge();
  const made = passkey.create({ challenge, rp: { id: rpId, name: 'App' } });
  const data = Buffer.from(made.response.authenticatorData, 'base64url');
  data.writeUInt8(data.readUInt8(32) & ~1, 32);
  const response = { ...made.response, authenticatorData: data.toString('base64url') };
  const expected = { challengeHash, rpId, webOrigins };
  expect(await verifyNewPasskey({ ...made, response }, expected)).toBeNull();
});
