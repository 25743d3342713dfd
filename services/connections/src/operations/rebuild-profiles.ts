import { rebuildConnectionsProfiles, usersPage } from '@kith/contracts';
import { ask, handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Copies a page of identity's users; a profile that is held and newer stays. */
export const rebuildProfilesHandler = handler(
  rebuildConnectionsProfiles,
  async (request, app: AppContext) => {
    const { users, next } = await ask(app.bus, usersPage, { after: request.body.after }, request);
    await Promise.all(users.map((profile) => app.store.keepProfile(profile)));
    return { copied: users.length, next };
  },
);
