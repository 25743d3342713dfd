import { ApiError } from '@kith/base';
import { sendVerificationEmail } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { accountOf } from '../factors/factor-user.ts';
import { mayLeadTo } from '../mails/links.ts';
import { mailUser, needMails } from '../mails/mail-user.ts';

/** Sends the caller a mail with a code or a link that verifies the address (spec#accounts-send-verification). */
export const sendVerificationEmailHandler = handler(
  sendVerificationEmail,
  async ({ projectId, caller, body }, app: AppContext) => {
    needMails(app);
    const { mode, redirectUrl: redirect = null } = body;
    if (redirect !== null) {
      const project = await app.store.projects.find(projectId);
      if (!project || !mayLeadTo(project, redirect))
        throw new ApiError('auth/invalid-redirect', { field: 'redirectUrl' });
    }
    const user = await accountOf(app, projectId, caller.userId);
    if (user.email === null) throw new ApiError('auth/not-password-user');
    const kind = mode === 'code' ? 'verificationCode' : 'verificationLink';
    await mailUser(app, user, { kind, address: user.email, redirect });
    return { success: true as const };
  },
);
