import type { BodyOf, signTestingJwt } from '@kith/contracts';
import { ApiError } from '@kith/service';
import { type JWTPayload, SignJWT } from 'jose';
import type { AppContext } from './app.ts';

type Asked = BodyOf<typeof signTestingJwt>;

const lifeSeconds = 300;

/**
 * Signs a token for tests with the caller's own key (SPEC A6). The key stays in memory for a minute: it reaches no
 * log, no disk and no answer. jose signs on the thread pool, so that the loop stays free.
 */
export async function signTestToken(asked: Asked, app: AppContext): Promise<string> {
  try {
    const now = Math.floor(Date.now() / 1000);
    return await new SignJWT(claimsOf(asked.payload))
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
      .setSubject(asked.payload.id)
      .setIssuer(asked.projectId)
      .setAudience(app.tokenAudience)
      .setIssuedAt(now)
      .setExpirationTime(now + lifeSeconds)
      .sign(app.keys.read(asked.privateKey));
  } catch (error) {
    // Without the cause: nothing that has seen the key goes further than its message.
    throw new ApiError('crypto/server-error', { details: (error as Error).message });
  }
}

/** `name` and `role` are claims where they are strings; `userData` is the payload as it came. */
function claimsOf(payload: Asked['payload']): JWTPayload {
  const { name, role } = payload;
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof role === 'string' ? { role } : {}),
    userData: payload,
  };
}
