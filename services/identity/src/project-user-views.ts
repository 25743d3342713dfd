import type { ProjectUser } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { User } from './store/index.ts';
import { ownUserOf } from './user-views.ts';

/** Users as operators see them (spec#admin-users-suspension). */
export async function projectUsersOf(app: AppContext, some: readonly User[]): Promise<ProjectUser[]> {
  const said = await app.store.accounts.suspensions(some);
  return some.map((user) => {
    const { until, reason } = said.get(user.id) ?? { until: null, reason: null };
    const at = user.suspendedAt?.toISOString();
    const suspension = at === undefined ? null : { at, until: until?.toISOString() ?? null, reason };
    return { ...ownUserOf(user), suspension };
  });
}

/** A user as operators see it. */
export async function projectUserOf(app: AppContext, user: User): Promise<ProjectUser> {
  return (await projectUsersOf(app, [user]))[0] as ProjectUser;
}
