import { ApiError, DeadlinePassed, untilMade } from '@kith/base';
import { requestNewAccessToken } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { sessionAnswer, useOf } from '../open-session.ts';
import { endSession, isOpen } from '../sessions.ts';
import type { Rotation } from '../store/index.ts';
import { notSuspended } from '../suspension.ts';
import {
  hashFamily,
  hashRefreshToken,
  makeRefreshToken,
  openSuccessor,
  sealSuccessor,
} from '../tokens/refresh-token.ts';

const graceMs = 30_000;

/**
 * Exchanges a refresh token for its successor, in one conditional write. For 30 s, a retry or a second tab gets the same
 * successor. If the exchanged token is sent later than that, the session ends with all its refresh tokens. The session also
 * ends if the exchanged token is sent and its successor was already exchanged (spec#accounts-refresh-grace,
 * spec#accounts-refresh-reuse).
 */
export const requestNewAccessTokenHandler = handler(
  requestNewAccessToken,
  async (request, app: AppContext) => {
    const { refreshToken } = request.body;
    if (!refreshToken) return { user: null, accessToken: null };
    const family = hashFamily(refreshToken);
    if (!family) throw notRefreshed();
    let wasGood = false;
    // If another request rotates or revokes the session after it was read here, nothing is written, and the attempt is
    // repeated.
    const attempt = async () => {
      const now = new Date();
      const session = await app.store.sessions.findFamily(request.projectId, family);
      if (!session || session.expiresAt <= now) throw notRefreshed();
      const found = await app.store.users.find(session.projectId, session.userId);
      if (!found) throw notRefreshed();
      const user = await notSuspended(app, found, request.deadline);
      if (!user || !isOpen(session, user, now)) throw notRefreshed();
      const hash = hashRefreshToken(refreshToken);
      if (hash === session.tokenHash) {
        wasGood = true;
        const successor = makeRefreshToken(refreshToken);
        const next: Rotation = {
          ...useOf(request, now),
          tokenHash: hashRefreshToken(successor),
          rotated: { hash, sealed: sealSuccessor(successor, refreshToken) },
        };
        if (await app.store.sessions.rotate(session, next)) {
          return { result: await sessionAnswer(app, user, session, successor, request) };
        }
        return undefined;
      }
      const { rotated } = session;
      if (rotated?.hash === hash && (await app.store.sessions.rotatedWithin(session, graceMs))) {
        const successor = openSuccessor(rotated.sealed, refreshToken);
        return { result: await sessionAnswer(app, user, session, successor, request) };
      }
      // If the database was slow or silent, the deadline may be over. Meanwhile, the client may have sent the token again and
      // used its successors. This does not count as a reuse of the token, because the token was valid when this request came
      // in. The late answer reaches nobody, or only a tab that still has an old token.
      if (Date.now() >= request.deadline) throw new DeadlinePassed();
      if (wasGood) throw notRefreshed();
      // The session may have been read before the presented token was issued. In this case, the session has been rotated since.
      // So `endSession` returns `false`, and the token is checked again. A restore undoes all rotations that were made after
      // its backup. A token from such a rotation is unknown to the restored database, but it does not count as stolen.
      const isFromBackup = session.lastUsedAt.getTime() < app.restoredAt;
      if (!isFromBackup) {
        const actor = `user:${session.userId}`;
        request.audit.tell({ actor, target: `session:${session.sid}`, outcome: 'auth/token-reuse-detected' });
      }
      if (await endSession(app, session, isFromBackup ? 'ended' : 'token-reused', session.tokenHash)) {
        throw isFromBackup ? notRefreshed() : new ApiError('auth/token-reuse-detected');
      }
      request.audit.untell();
      return undefined;
    };
    return untilMade(attempt, request);
  },
);

/** Gives the same answer for an unknown token and for one whose session has ended (spec#errors-unauthorized-reason). */
function notRefreshed(): ApiError {
  const message = 'The refresh token is unknown, or its session has ended. Sign in again.';
  return new ApiError('auth/unauthorized', { message });
}
