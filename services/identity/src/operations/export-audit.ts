import { exportAudit } from '@kith/contracts';
import { exportPage, internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { placeOf } from '../listing.ts';

/** Returns the rows of the audit log about a user, for an export. */
export const exportAuditHandler = internalHandler(exportAudit, async (body, app: AppContext) => {
  const { limit } = body;
  const rows = await app.store.audits.about(body, { after: body.after ?? '', limit: limit + 1 });
  return exportPage(rows, {
    limit,
    show: ({ at, actor, action, target, ip, requestId, outcome, count }) => {
      const isOwn = actor.startsWith('user:');
      return {
        ...{ at, actor, action, target, outcome, count },
        ip: isOwn ? ip : null,
        requestId: isOwn ? requestId : null,
      };
    },
    position: placeOf,
  });
});
