import { signOut } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { endSession } from '../sessions.ts';
import { hashFamily } from '../tokens/refresh-token.ts';

/**
 * Ends the session of a refresh token, even if the token was already exchanged for a newer one. If the token is absent, or the
 * text is no refresh token, no session ends (spec#accounts-sign-out).
 */
export const signOutHandler = handler(signOut, async ({ projectId, body, audit }, app: AppContext) => {
  const family = body.refreshToken && hashFamily(body.refreshToken);
  const session = family && (await app.store.sessions.findFamily(projectId, family));
  if (!session) return undefined;
  audit.tell({ actor: `user:${session.userId}`, target: `session:${session.sid}` });
  // If the session had already ended, the request changes nothing, so the audit log gets no row.
  if (!(await endSession(app, session, 'signed-out'))) audit.untell();
  return undefined;
});
