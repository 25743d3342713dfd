import { ApiError } from '@kith/base';
import type { AppContext } from '../app.ts';
import type { Project, User } from '../store/index.ts';

/** The account of a caller. It may be deleted already, as a token outlives its account for a moment. Throws `auth/unauthorized`. */
export async function accountOf(app: AppContext, projectId: string, userId: string): Promise<User> {
  const user = await app.store.users.account(projectId, userId);
  if (user) return user;
  throw new ApiError('auth/unauthorized', { message: 'The account of this access token was deleted.' });
}

/** The account together with its project. A project that is being deleted is gone before its accounts are. */
export async function accountAndProjectOf(
  app: AppContext,
  projectId: string,
  userId: string,
): Promise<{ user: User; project: Project }> {
  const [user, project] = await Promise.all([
    accountOf(app, projectId, userId),
    app.store.projects.find(projectId),
  ]);
  if (project) return { user, project };
  throw new ApiError('auth/unauthorized', { message: 'The project of this access token was deleted.' });
}
