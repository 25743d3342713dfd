import { ApiError } from '@kith/base';
import type { PasskeyRequest } from '@kith/contracts';
import type { AppContext } from '../app.ts';
import { challengeMs, makeChallenge, requestOptions } from './passkeys.ts';

/**
 * Makes a challenge for a user's passkeys at a relying party. Each challenge can be used only once. Throws
 * `auth/factor-not-found` if the user has no passkey at this relying party.
 * @param given.sessionId At a step-up, the session that gets the proof (`withProof`); null at a sign-in.
 */
export async function challengeUser(
  app: AppContext,
  given: { projectId: string; userId: string; rpId: string; sessionId: string | null; deadline: number },
): Promise<PasskeyRequest> {
  const { projectId, userId, rpId, sessionId, deadline } = given;
  const at = app.now();
  const { challenge, hash } = makeChallenge();
  return app.store.factors.change({ projectId, userId, at, deadline }, async (book) => {
    const options = requestOptions(challenge, rpId, book.factors);
    if (!options) throw new ApiError('auth/factor-not-found');
    const stored = { hash, rpId, sessionId, expiresAt: at.getTime() + challengeMs };
    return { book: { ...book, challenges: [...book.challenges, stored] }, result: options };
  });
}
