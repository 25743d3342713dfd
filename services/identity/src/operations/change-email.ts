import { ApiError } from '@kith/base';
import { changeEmail } from '@kith/contracts';
import { handler } from '@kith/service';
import { ownerOfAddress } from '../address-owner.ts';
import type { AppContext } from '../app.ts';
import { attemptOf, tooManyAttempts } from '../attempts.ts';
import { accountDeleted, accountOf } from '../factors/factor-user.ts';
import { requireStepUp } from '../factors/step-up.ts';
import { mailUser, needMails } from '../mails/mail-user.ts';
import { mostUndos } from '../mails/tokens.ts';
import { requireOpenSession, sessionEnded } from '../sessions.ts';
import type { User } from '../store/index.ts';

/**
 * Sends a mail to the caller's new address. The address takes effect as soon as the mail's token is used
 * (spec#accounts-change-email).
 */
export const changeEmailHandler = handler(
  changeEmail,
  async (request, app: AppContext) => {
    const { projectId, caller, body, deadline } = request;
    needMails(app);
    await requireStepUp(app, projectId, caller);
    const user = await accountOf(app, projectId, caller.userId);
    await requireOpenSession(app, user, caller);
    if (user.email === null) throw new ApiError('auth/not-password-user');
    const attempt = attemptOf(request, { address: user.email, userId: user.id });
    const verify = () => app.passwords.verify(body.password, user.passwordHash, deadline);
    if (!(await app.attempts.check(attempt, verify))) throw new ApiError('auth/invalid-credentials');
    const { newEmail: address } = body;
    if (address === user.email || (await ownerOfAddress(app, { projectId, address, userId: user.id })))
      throw new ApiError('DUPLICATE_EMAIL', { field: 'newEmail' });
    // After this request was checked, the owner of the account may have signed out or changed the password to get rid of a
    // stranger. This request may come from that stranger, so it is refused.
    const isStored = await mailUser(app, user, { kind: 'emailChange', address }, async (now) => {
      await requireOpenSession(app, now, caller);
      if (now.sessionEpoch !== user.sessionEpoch) throw sessionEnded();
      await refuseManyChanges(app, now);
    });
    if (!isStored) throw accountDeleted();
    const message =
      'A mail is on its way to the new address. The address changes when the link in the mail is opened.';
    return { success: true as const, message };
  },
  { places: 'own' },
);

/** Throws `auth/too-many-attempts` if the address was changed too often (spec#accounts-address-changes). */
async function refuseManyChanges(app: AppContext, user: User): Promise<void> {
  const now = Date.now();
  const mails = await app.store.mailings.of(user);
  const undos = mails.filter(({ kind, until }) => kind === 'emailChanged' && until > now);
  if (undos.length < mostUndos) return;
  const first = Math.min(...undos.map(({ until }) => until));
  throw tooManyAttempts(first - now, 'The address was changed too often. Try again later.');
}
