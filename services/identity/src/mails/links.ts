import type { MailKind } from '@kith/contracts';
import type { Project } from '../store/records.ts';

/** Whether a page may lead there: its origin is exactly one of the project's (spec#accounts-verify-link-redirect). */
export function mayLeadTo(project: Pick<Project, 'webOrigins'>, address: string): boolean {
  // What a browser would read otherwise than this does is refused: controls, spaces and backslashes.
  if (!URL.canParse(address) || /[\\\s\p{Cc}]/u.test(address)) return false;
  const { origin, username, password } = new URL(address);
  return username === '' && password === '' && !origin.includes('*') && project.webOrigins.includes(origin);
}

/** The page of the application that links lead to; undefined where none is known. */
export function applicationPage({
  mailLinkBase,
  webOrigins,
}: Pick<Project, 'mailLinkBase' | 'webOrigins'>): string | undefined {
  if (mailLinkBase !== null) return mailLinkBase;
  // One with a wildcard is no address.
  const origin = webOrigins.find((one) => !one.includes('*'));
  return origin && `${origin}/`;
}

/**
 * What a mail's link is: to the application for a new password, to the page of `verify-email-link` for an address, if it is known
 * where clients reach that; else to the application. Where no page is known it is the token alone (spec#accounts-mail-texts).
 */
export function linkOf(
  project: Project,
  { kind, token, redirect }: { kind: MailKind; token: string; redirect: string | null },
  publicUrl: string | undefined,
): string {
  if (kind !== 'passwordReset' && publicUrl !== undefined) {
    const query = new URLSearchParams({ token, ...(redirect !== null && { redirect }) });
    return `${publicUrl}/v7/${project.id}/auth/verify-email-link?${query}`;
  }
  const page = applicationPage(project);
  if (page === undefined) return token;
  // Behind a `#` the token reaches no server and no log of one; then that is where the application reads it.
  const last = page.slice(page.lastIndexOf('#') + 1);
  return `${page}${last.includes('?') ? '&' : '?'}${new URLSearchParams({ mail: kind, token })}`;
}
