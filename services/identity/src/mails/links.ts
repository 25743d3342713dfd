import type { MailKind } from '@kith/contracts';
import type { Project } from '../store/records.ts';

/**
 * Whether a page of the platform may send the browser on to this address. The address's origin must be exactly one of the
 * project's web origins (spec#accounts-verify-link-redirect).
 */
export function mayLeadTo(project: Pick<Project, 'webOrigins'>, address: string): boolean {
  // Refuses control characters, spaces and backslashes. If an address contains them, a browser could read the address
  // differently than this check does.
  if (!URL.canParse(address) || /[\\\s\p{Cc}]/u.test(address)) return false;
  const { origin, username, password } = new URL(address);
  return username === '' && password === '' && !origin.includes('*') && project.webOrigins.includes(origin);
}

/** The page of the application to which the links in mails lead; undefined if the project's settings contain no such page. */
export function applicationPage({
  mailLinkBase,
  webOrigins,
}: Pick<Project, 'mailLinkBase' | 'webOrigins'>): string | undefined {
  if (mailLinkBase !== null) return mailLinkBase;
  // An origin with a wildcard is a pattern, not the address of a page.
  const origin = webOrigins.find((one) => !one.includes('*'));
  return origin && `${origin}/`;
}

/**
 * A mail's link. A link for a new password leads to the application. Any other link leads to the page of `verify-email-link` if
 * the public URL is known, otherwise to the application. If there is no page to which the link could lead, returns the token
 * alone (spec#accounts-mail-texts).
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
  // The token comes last. If the page's address has a `#`, the token is part of what comes after the `#`. Browsers do not send
  // this part, so the token appears in no server's log. The application can still read it.
  const last = page.slice(page.lastIndexOf('#') + 1);
  return `${page}${last.includes('?') ? '&' : '?'}${new URLSearchParams({ mail: kind, token })}`;
}
