import { ApiError } from '@kith/base';
import type { AppContext } from '../app.ts';
import type { NewMailing, Project, User } from '../store/index.ts';
import { applicationPage, mayLeadTo } from './links.ts';

/** Throws `auth/mail-unavailable` if no mail can be sent. */
export function needMails(app: Pick<AppContext, 'postman'>): void {
  if (app.postman.isThere) return;
  // `Retry-After` is long, because only an operator can set up the sending of mails.
  throw new ApiError('auth/mail-unavailable', { headers: { 'Retry-After': '3600' } });
}

/**
 * Stores a mail to a user, unless `check` throws (`Mailings.add`). The mail is sent in the background. Returns `false` if the
 * user is gone.
 */
export async function mailUser(
  app: Pick<AppContext, 'postman' | 'store'>,
  user: Pick<User, 'projectId' | 'id'>,
  mail: NewMailing,
  check?: (user: User) => Promise<void>,
): Promise<boolean> {
  const isStored = await app.store.mailings.add(user, mail, check);
  if (isStored) app.postman.kick();
  return isStored;
}

/**
 * The mail with which a new user verifies the e-mail address, in a project that requires this before the first session. The
 * mail's link opens a page of the platform, which then leads to the application.
 */
export function firstVerification(project: Project, address: string): NewMailing {
  const page = applicationPage(project);
  const redirect = page !== undefined && mayLeadTo(project, page) ? page : null;
  return { kind: 'verificationLink', address, redirect };
}
