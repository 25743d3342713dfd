import { exportSessions } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { placeOf } from '../listing.ts';

/** Returns a user's sessions for an export. Each session is copied field by field, so that the export contains no hash. */
export const exportSessionsHandler = internalHandler(exportSessions, async (body, app: AppContext) => {
  const { projectId, userId, limit } = body;
  const of = { projectId, userId, at: new Date() };
  const range = { from: { after: body.after ?? '' }, limit: limit + 1 };
  const { rows } = await app.store.sessions.list(of, range);
  return exportPage(rows, {
    limit,
    show: ({ sid, createdAt, lastUsedAt, expiresAt, userAgent, ip }) => ({
      id: sid,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt.toISOString(),
      expiresAt: expiresAt.toISOString(),
      userAgent,
      ip,
    }),
    position: ({ sid, createdAt }) => placeOf({ createdAt, id: sid }),
  });
});
