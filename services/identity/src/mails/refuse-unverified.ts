import { ApiError } from '@kith/base';
import type { AppContext } from '../app.ts';
import type { Project, User } from '../store/index.ts';
import { firstVerification, mailUser } from './mail-user.ts';

/**
 * If the project requires verified addresses and the user's address is not verified, sends the mail again and throws
 * `auth/email-not-verified` (spec#accounts-unverified-sign-in).
 */
export async function refuseUnverified(app: AppContext, project: Project, user: User): Promise<void> {
  if (!project.requireVerifiedEmail || user.isVerified || user.email === null) return;
  if (app.postman.isThere) await mailUser(app, user, firstVerification(project, user.email));
  throw new ApiError('auth/email-not-verified');
}
