import { ApiError } from '@kith/base';
import { restoreUser, suspendUser } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { projectUserOf } from '../project-user-views.ts';
import { restore, suspend } from '../suspension.ts';

/** Suspends a user, permanently or until a time (spec#admin-users-suspended, spec#admin-users-suspend-until). */
export const suspendUserHandler = handler(suspendUser, async (request, app: AppContext) => {
  const { params, body, deadline } = request;
  const until = body.until ? new Date(body.until) : null;
  if (until !== null && until.getTime() <= Date.now()) {
    throw new ApiError('user/invalid-body', {
      message: 'until must be in the future.',
      field: 'until',
    });
  }
  const user = await suspend(app, { ...params, deadline }, { until, reason: body.reason ?? null });
  return projectUserOf(app, user);
});

/** Restores a user, who may then sign in again. Ended sessions stay ended (spec#admin-users-restore). */
export const restoreUserHandler = handler(restoreUser, async (request, app: AppContext) => {
  const { params, deadline } = request;
  return projectUserOf(app, await restore(app, { ...params, deadline }));
});
