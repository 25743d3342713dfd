import { generalPaginationOf, listAudit, uuid } from '@kith/contracts';
import { handler, refuseOtherProjects } from '@kith/service';
import type { AppContext } from '../app.ts';
import { readPage } from '../listing.ts';

/** Lists the audit log, newest first, by page or by cursor (spec#audit-list). */
export const listAuditHandler = handler(listAudit, async (request, app: AppContext) => {
  const { projectId, actor, action, from, to } = request.query;
  refuseOtherProjects(request, projectId);
  const filter = {
    ...{ projectId, action },
    actor: actor && idIn(actor),
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
  };
  const found = await readPage(request, {
    binding: [listAudit.name, JSON.stringify(filter)],
    code: 'auth/invalid-query',
    read: (range) => app.store.audits.list(filter, { ...range, deadline: request.deadline }),
  });
  return {
    data: found.rows.map(({ createdAt: _, ...row }) => row),
    pagination: generalPaginationOf(found),
  };
});

/** The id in an actor, in the form in which rows store it: a UUID in lower case. */
function idIn(actor: string): string {
  const id = actor.slice(actor.indexOf(':') + 1);
  return uuid.safeParse(id).data ?? id;
}
