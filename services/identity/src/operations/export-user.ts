import { ApiError } from '@kith/base';
import { exportUser } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { factorListOf } from '../factors/show.ts';
import { requireStepUp } from '../factors/step-up.ts';
import { requireOpenSession } from '../sessions.ts';
import { ownUserOf } from '../user-views.ts';

/** Returns the first part of the caller's export. The gateway asks the services for the lists that follow (docs/adr/0012). */
export const exportUserHandler = handler(exportUser, async (request, app: AppContext) => {
  const { projectId, caller, params } = request;
  if (caller.userId !== params.userId) throw new ApiError('auth/forbidden');
  const factors = await requireStepUp(app, projectId, caller);
  const user = await app.store.users.find(projectId, params.userId);
  if (!user) throw new ApiError('user/not-found');
  await requireOpenSession(app, user, caller);
  request.setHeader('Content-Disposition', `attachment; filename="kith-export-${user.id}.json"`);
  return { exportedAt: new Date().toISOString(), user: ownUserOf(user), ...factorListOf(factors) };
});
