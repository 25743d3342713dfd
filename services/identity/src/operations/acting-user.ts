import { actingUser } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { restoreIfOver } from '../suspension.ts';

/** Tells gateways the role of the user for whom a server key acts (spec#server-keys-on-behalf). */
export const actingUserHandler = internalHandler(
  actingUser,
  async ({ projectId, userId }, app: AppContext, { deadline }) => {
    const found = await app.store.users.account(projectId, userId);
    const user = found && (await restoreIfOver(app, found, deadline));
    return { user: user?.isActive ? { role: user.role } : null };
  },
);
