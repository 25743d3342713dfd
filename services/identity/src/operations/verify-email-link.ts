import { ApiError } from '@kith/base';
import { verifyEmailLink } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { mayLeadTo } from '../mails/links.ts';
import { hashToken } from '../mails/tokens.ts';
import { pagePolicy, verifyPage } from '../mails/verify-page.ts';

/** Returns the page to which the link of a mail leads. Reading the page changes nothing (spec#accounts-verify-link-button). */
export const verifyEmailLinkHandler = handler(
  verifyEmailLink,
  async ({ projectId, query, setHeader }, app: AppContext) => {
    const { token, redirect } = query;
    const project = await app.store.projects.find(projectId);
    if (!project) throw new ApiError('project/not-found');
    if (redirect !== undefined && !mayLeadTo(project, redirect))
      throw new ApiError('auth/invalid-redirect', { field: 'redirect' });
    const mailing = await app.store.mailings.byToken(projectId, hashToken(token));
    const kind = mailing && mailing.kind !== 'passwordReset' ? mailing.kind : null;
    setHeader('Content-Security-Policy', pagePolicy);
    setHeader('Cache-Control', 'no-store');
    return verifyPage({ project: project.name, kind, token, redirect });
  },
);
