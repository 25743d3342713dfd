import { ApiError } from '@kith/base';
import { requestPasswordReset } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { needMails } from '../mails/mail-user.ts';
import { hashAddress } from '../mails/tokens.ts';
import { sealedFor } from '../store/index.ts';

/**
 * Records that somebody wants to set a new password. The account is looked up in the background, so that neither the answer nor
 * its timing shows whether the account exists (spec#accounts-request-reset).
 */
export const requestPasswordResetHandler = handler(
  requestPasswordReset,
  async ({ projectId, body }, app: AppContext) => {
    needMails(app);
    if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
    const id = `${projectId}|${hashAddress(app.secrets, projectId, body.email)}`;
    await app.store.resetRequests.add(id, app.secrets.seal(sealedFor.address, body.email, id));
    app.postman.kick();
    const message = 'If there is an account with this address, a mail is on its way to it.';
    return { success: true as const, message };
  },
);
