import { fold } from '@kith/base';
import { suggestUsers } from '@kith/contracts';
import { handler, shownTo } from '@kith/service';
import type { AppContext } from '../app.ts';
import { seesProfiles } from '../show-user.ts';
import { publicUserOf } from '../user-views.ts';

const most = 5;

/**
 * Suggests users by a part of their username or name, in any script (spec#users-suggestions). A blank query suggests nobody. If
 * one of two users blocks the other, neither of them gets the other as a suggestion (spec#blocks-hides).
 */
export const suggestUsersHandler = handler(suggestUsers, async (request, app: AppContext) => {
  const search = fold(request.query.query);
  if (search === '' || !(await seesProfiles(app, request))) return [];
  const { projectId, caller, deadline } = request;
  const hiddenAmong = async (ids: string[]) =>
    caller ? app.store.blocks.hiddenFrom(projectId, caller.userId, ids) : new Set<string>();
  const users = await app.store.people.suggest(projectId, search, { limit: most, hiddenAmong, deadline });
  return users.map(publicUserOf).map(shownTo(request));
});
