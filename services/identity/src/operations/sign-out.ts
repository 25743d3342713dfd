import { signOut } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { revokeSession } from '../sessions.ts';
import { hashFamily } from '../tokens/refresh-token.ts';

/** Ends the session of a refresh token, which may be one used before; any other text ends none (spec#accounts-sign-out). */
export const signOutHandler = handler(signOut, async ({ projectId, body }, app: AppContext) => {
  const family = hashFamily(body.refreshToken);
  const session = family && (await app.store.sessions.findFamily(projectId, family));
  if (session) await revokeSession(app, session, 'signed-out');
  return undefined;
});
