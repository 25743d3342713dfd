import { exportMails } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Returns a user's mails for an export. Each mail is copied field by field, so that the export contains no hash. */
export const exportMailsHandler = internalHandler(exportMails, async (body, app: AppContext) => {
  const { projectId, userId, limit } = body;
  const all = await app.store.mailings.of({ projectId, id: userId });
  const rows = all.filter(({ id, until }) => id > (body.after ?? '') && until > Date.now());
  return exportPage(rows.slice(0, limit + 1), {
    limit,
    show: ({ kind, address, until }) => ({ kind, address, until: new Date(until).toISOString() }),
    position: ({ id }) => id,
  });
});
