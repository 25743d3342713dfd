import { ApiError } from '@kith/base';
import { userUpdated, verifyEmail } from '@kith/contracts';
import { handler } from '@kith/service';
import { ownerOfAddress } from '../address-owner.ts';
import type { AppContext } from '../app.ts';
import { changedUser } from '../changed-user.ts';
import { codeForm, hashCode, hashToken, isNotice, mostFailures, undoMs } from '../mails/tokens.ts';
import { finishEnding } from '../sessions.ts';
import type { Mailing, TokenUse, User } from '../store/index.ts';
import { userEvent } from '../user-events.ts';

/** Uses the token of a mail, or the caller's code, once (spec#accounts-verify-email). */
export const verifyEmailHandler = handler(
  verifyEmail,
  async ({ projectId, caller, body: { token }, audit }, app: AppContext) => {
    const whose = caller && { projectId, id: caller.userId };
    const mailing = codeForm.test(token)
      ? whose && (await app.store.mailings.tryCode(whose, hashCode(app.secrets, whose, token), mostFailures))
      : await app.store.mailings.byToken(projectId, hashToken(token));
    if (!mailing) throw new ApiError('auth/invalid-or-expired-token');
    const { kind, address, userId } = mailing;
    if (kind === 'emailChange' && (await ownerOfAddress(app, { projectId, address, userId })))
      throw new ApiError('DUPLICATE_EMAIL', { field: 'token' });
    if (kind === 'emailChange' || kind === 'emailChanged') audit.tell({ actor: `user:${userId}` });
    const used = await app.store.mailings.use(mailing, useOf);
    if (used === 'unusable') throw new ApiError('auth/invalid-or-expired-token');
    if (typeof used === 'string') throw new ApiError('DUPLICATE_EMAIL', { field: 'token' });
    app.relay.kick();
    if (kind === 'emailChange') app.postman.kick();
    const { sessionEpoch: epoch } = used.user;
    if (kind === 'emailChanged') await finishEnding(app, { projectId, userId, epoch, reason: 'ended' });
    return { success: true as const };
  },
);

/** How the user changes when this mail's token is used; null if the token is not valid. */
function useOf(before: User, mailing: Mailing): TokenUse | null {
  const { kind, address } = mailing;
  if (kind === 'emailChange') return changeAddress(before, address);
  if (kind === 'emailChanged') return undoChange(before, mailing);
  // A token that sets a new password is not accepted here. Any other token is invalid if the mail was not sent to the user's
  // present address.
  if (kind === 'passwordReset' || before.email !== address) return null;
  return verified(before, {});
}

/**
 * Makes the new address the user's address. A mail to the old address reports the change and can undo it
 * (spec#accounts-new-address, spec#accounts-old-address).
 */
function changeAddress(before: User, address: string): TokenUse {
  const until = new Date(Date.now() + undoMs);
  const { email } = before;
  const name = String(before.rev);
  const mail = email === null ? {} : { mail: { kind: 'emailChanged', address: email, name, until } as const };
  return { ...verified(before, { email: address }), ...mail };
}

/**
 * Makes the old address the user's address again. All sessions end, so the person who changed the address is signed out. Mails
 * that were requested after the change become invalid.
 */
function undoChange(before: User, { address, name }: Mailing): TokenUse {
  const ended = { sessionEpoch: before.sessionEpoch + 1, keptSession: null };
  return {
    ...verified(before, { email: address, ...ended }),
    ending: 'ended',
    // The mails that can undo earlier changes stay valid. So the user can still return to an even older address. The `rev` in
    // the name says which change was earlier. The times of the changes cannot be compared, because the clocks of two replicas
    // may differ.
    // Notices of second factors stay, because they have no token, and the user must learn of the factors.
    drops: (one) => !isNotice(one.kind) && (one.kind !== 'emailChanged' || Number(one.name) > Number(name)),
  };
}

function verified(before: User, changes: Partial<User>): TokenUse {
  const user = changedUser(before, { isVerified: true, ...changes });
  return { user, event: userEvent(userUpdated, user) };
}
