import { confirmFactor, enrolFactor, type OutputOf } from '@kith/contracts';
import { SoftwarePasskey, type TestUser } from '@kith/testing';
import type { SurfaceWorld } from './suite.ts';

/** Makes a user whose second factor is a passkey of `localhost`. Projects without web origins accept passkeys of this host. */
export async function userWithPasskey(
  world: SurfaceWorld,
): Promise<TestUser & { factorId: string; recoveryCodes: readonly string[] }> {
  const user = await world.user();
  const { accessToken: token } = user;
  const { body } = await world.ok(enrolFactor, { token, body: { type: 'passkey', rpId: 'localhost' } });
  const { id: factorId, options } = body as Extract<OutputOf<typeof enrolFactor>, { type: 'passkey' }>;
  const passkey = new SoftwarePasskey('http://localhost:3000').create(options);
  const confirmed = await world.ok(confirmFactor, { token, params: { factorId }, body: { passkey } });
  return { ...user, factorId, recoveryCodes: confirmed.body.recoveryCodes ?? [] };
}
