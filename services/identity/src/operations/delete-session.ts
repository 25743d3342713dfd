import { ApiError } from '@kith/base';
import { deleteSession } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { endSession } from '../sessions.ts';

/** Ends one of the caller's sessions. This may be the session of the request itself (spec#accounts-sessions-delete). */
export const deleteSessionHandler = handler(
  deleteSession,
  async ({ projectId, caller, params }, app: AppContext) => {
    const session = await app.store.sessions.find(projectId, caller.userId, params.sessionId);
    const isLive = session && session.expiresAt > new Date();
    if (!isLive || !(await endSession(app, session, 'ended'))) throw new ApiError('auth/session-not-found');
    return undefined;
  },
);
