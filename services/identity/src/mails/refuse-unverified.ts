import { ApiError } from '@kith/base';
import { apart } from '@kith/store';
import type { AppContext } from '../app.ts';
import type { Project, User } from '../store/index.ts';
import { firstVerification, mailUser } from './mail-user.ts';

/**
 * Sends the verification mail again and throws `auth/email-not-verified`, if the project requires verified addresses and the
 * user's address is not verified (spec#accounts-unverified-sign-in).
 */
export async function refuseUnverified(app: AppContext, project: Project, user: User): Promise<void> {
  if (!project.requireVerifiedEmail || user.isVerified || user.email === null) return;
  const mail = firstVerification(project, user.email);
  // An audit row that is stored with a change reports a success, but this request is about to be refused. So `apart` stores the
  // mail without an audit row.
  if (app.postman.isThere) await apart(() => mailUser(app, user, mail));
  throw new ApiError('auth/email-not-verified');
}
