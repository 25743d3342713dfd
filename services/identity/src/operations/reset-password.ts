import { ApiError } from '@kith/base';
import { resetPassword, userUpdated } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { attemptOf } from '../attempts.ts';
import { changedUser } from '../changed-user.ts';
import { hashToken } from '../mails/tokens.ts';
import { refuseCommon, refuseWeak } from '../password-rules.ts';
import { finishEnding } from '../sessions.ts';
import { userEvent } from '../user-events.ts';

/**
 * Sets a new password with the token of a mail. This may also be the first password of the user
 * (spec#accounts-reset-first-password). The same write ends every session. It also marks the address as verified, because the
 * token was sent there. Second factors stay (spec#accounts-reset).
 */
export const resetPasswordHandler = handler(
  resetPassword,
  async (request, app: AppContext) => {
    const { projectId, body, deadline } = request;
    await refuseCommon(body.newPassword, 'newPassword');
    const mailing = await app.store.mailings.byToken(projectId, hashToken(body.token));
    if (mailing?.kind !== 'passwordReset') throw new ApiError('auth/invalid-reset-token');
    const account = await app.store.users.account(projectId, mailing.userId);
    if (!account) throw new ApiError('auth/invalid-reset-token');
    request.audit.tell({ actor: `user:${account.id}` });
    await refuseWeak(body.newPassword, account, 'newPassword');
    const passwordHash = await app.passwords.hash(body.newPassword, deadline);
    const reason = 'password-changed';
    const used = await app.store.mailings.use(mailing, (before, { address }) => {
      if (before.email !== address) return null;
      const ended = { sessionEpoch: before.sessionEpoch + 1, keptSession: null };
      const user = changedUser(before, { passwordHash, isVerified: true, ...ended });
      return { user, event: userEvent(userUpdated, user), ending: reason };
    });
    if (typeof used === 'string') throw new ApiError('auth/invalid-reset-token');
    app.relay.kick();
    const { id: userId, sessionEpoch: epoch } = used.user;
    await finishEnding(app, { projectId, userId, epoch, reason });
    // The user has proved to own the address, so the next attempts to sign in need not wait, even after earlier failures. From
    // now on, this client's failures are counted separately (spec#accounts-attempts-known-client).
    await app.attempts.end({ projectId, userId, address: mailing.address });
    await app.attempts.signedIn(attemptOf(request, { address: mailing.address, userId }));
    const message = 'The password is set. All sessions have ended; sign in with it.';
    return { success: true as const, message };
  },
  { places: 'own' },
);
