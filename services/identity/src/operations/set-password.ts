import { ApiError, untilMade } from '@kith/base';
import { setPassword } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { refuseCommon, refuseWeak } from '../password-rules.ts';
import { projectUserOf } from '../project-user-views.ts';
import { endAllSessions } from '../sessions.ts';

/** For an operator, sets a user's password. The same write ends all the user's sessions (spec#admin-users-set-password). */
export const setPasswordHandler = handler(
  setPassword,
  async (request, app: AppContext) => {
    const { params, body, deadline } = request;
    await refuseCommon(body.password, 'password');
    let passwordHash: string | undefined;
    const attempt = async () => {
      const before = await app.store.users.find(params.projectId, params.userId);
      if (!before) throw new ApiError('user/not-found');
      if (before.email === null) throw new ApiError('auth/not-password-user');
      await refuseWeak(body.password, before, 'password');
      passwordHash ??= await app.passwords.hash(body.password, deadline);
      const after = await endAllSessions(app, { ...before, passwordHash }, 'password-set');
      if (!after) return undefined;
      // After failed attempts, sign-in is refused for a while, and the user may have asked the operator for help because of
      // this. So the user may now sign in without waiting.
      await app.attempts.end({ projectId: after.projectId, userId: after.id, address: before.email });
      return { result: await projectUserOf(app, after) };
    };
    return untilMade(attempt, { deadline });
  },
  { places: 'own' },
);
