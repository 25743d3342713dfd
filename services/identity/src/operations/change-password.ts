import { ApiError, untilMade } from '@kith/base';
import { changePassword } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { attemptOf } from '../attempts.ts';
import { accountOf } from '../factors/factor-user.ts';
import { requireStepUp } from '../factors/step-up.ts';
import { refuseWeak } from '../password-rules.ts';
import { finishEnding, requireOpenSession } from '../sessions.ts';
import type { User } from '../store/index.ts';

/** Changes the caller's password. The same write ends the caller's other sessions (spec#accounts-change-password). */
export const changePasswordHandler = handler(
  changePassword,
  async (request, app: AppContext) => {
    const { projectId, caller, body, deadline } = request;
    await requireStepUp(app, projectId, caller);
    let verified: string | null = null;
    let passwordHash: string | undefined;
    const attempt = async () => {
      const before = await accountOf(app, projectId, caller.userId);
      await requireOpenSession(app, before, caller);
      await refuseWeak(body.newPassword, before, 'newPassword');
      if (verified === null || before.passwordHash !== verified) {
        const attempt = attemptOf(request, { address: before.email ?? before.id, userId: before.id });
        const right = await app.attempts.check(attempt, () =>
          app.passwords.verify(body.password, before.passwordHash, deadline),
        );
        if (!right) throw new ApiError('auth/invalid-credentials');
        verified = before.passwordHash;
      }
      passwordHash ??= await app.passwords.hash(body.newPassword, deadline);
      const after: User = {
        ...before,
        passwordHash,
        sessionEpoch: before.sessionEpoch + 1,
        keptSession: caller.sessionId,
        updatedAt: new Date(),
        rev: before.rev + 1,
      };
      const reason = 'password-changed';
      if ((await app.store.accounts.update(after, { event: null, ending: reason })) === 'stale')
        return undefined;
      await finishEnding(app, { projectId, userId: after.id, epoch: after.sessionEpoch, reason });
      const message = 'The password is changed. Other sessions have ended.';
      return { result: { success: true as const, message } };
    };
    return untilMade(attempt, { deadline });
  },
  { places: 'own' },
);
