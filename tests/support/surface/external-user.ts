import { type Session, signTestingJwt, updateProject, verifyExternalUser } from '@kith/contracts';
import type { keyPair } from '../keys.ts';
import type { SurfaceWorld } from './suite.ts';

/**
 * Signs in an external user. The test plays the project's own backend. The test registers the public key, and gets a token that
 * names this user and is signed with the private key.
 */
export async function externalUser(
  world: SurfaceWorld,
  pair: ReturnType<typeof keyPair>,
  payload: { id: string; [claim: string]: unknown },
): Promise<Session> {
  const { projectId, operatorToken: token } = world;
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' });
  await world.ok(updateProject, { params: { projectId }, token, body: { publicKey } });
  const { privateKey } = pair;
  const signed = await world.ok(signTestingJwt, { body: { projectId, privateKey, payload } });
  return (await world.ok(verifyExternalUser, { body: { userJwt: signed.body.token } })).body;
}
