import { ApiError } from '@kith/base';
import { apart } from '@kith/store';
import type { AppContext } from '../app.ts';
import type { Project, User } from '../store/index.ts';
import { firstVerification, mailUser } from './mail-user.ts';

/**
 * If the project requires verified addresses and the user's address is not verified, sends the mail again and throws
 * `auth/email-not-verified` (spec#accounts-unverified-sign-in).
 */
export async function refuseUnverified(app: AppContext, project: Project, user: User): Promise<void> {
  if (!project.requireVerifiedEmail || user.isVerified || user.email === null) return;
  const mail = firstVerification(project, user.email);
  // The request is refused, so no audit row that reports a success may be stored with this change.
  if (app.postman.isThere) await apart(() => mailUser(app, user, mail));
  throw new ApiError('auth/email-not-verified');
}
