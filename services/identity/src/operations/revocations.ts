import { getRevocations } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { tokensEnd } from '../sessions.ts';
import { revokedPlace } from '../store/index.ts';
import { refusedUntil } from '../suspension.ts';

const pageSize = 10_000;

/**
 * Returns the sessions, users and keys that gateways must refuse. Sessions and users are returned until all tokens from before
 * the revocation have expired. Only the first page has the suspended users and the revoked keys.
 */
export const revocationsHandler = internalHandler(getRevocations, async ({ after }, app: AppContext) => {
  // Tokens from before this time have all expired.
  const since = new Date(2 * Date.now() - tokensEnd(new Date()).getTime());
  const found = await app.store.sessions.revoked(after ?? revokedPlace(since), pageSize);
  const suspended = after === null ? await app.store.accounts.suspendedSince(since) : [];
  return {
    sessions: found.map(({ sid, at }) => ({ sessionId: sid, until: tokensEnd(at).toISOString() })),
    keys: after === null ? await app.store.keys.revoked() : [],
    suspended: suspended.map(({ userId, at, until }) => ({
      userId,
      until: refusedUntil(at, until).toISOString(),
    })),
    next: found.length === pageSize ? (found.at(-1)?.place ?? null) : null,
  };
});
