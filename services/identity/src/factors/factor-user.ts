import { ApiError } from '@kith/base';
import type { AppContext } from '../app.ts';
import type { Project, User } from '../store/index.ts';

/**
 * The account of a caller. Throws `auth/unauthorized` if the account was deleted. This is possible because an access token
 * stays valid for a moment after the deletion.
 */
export async function accountOf(app: AppContext, projectId: string, userId: string): Promise<User> {
  const user = await app.store.users.account(projectId, userId);
  if (user) return user;
  throw accountDeleted();
}

export function accountDeleted(): ApiError {
  return new ApiError('auth/unauthorized', { message: 'The account of this access token was deleted.' });
}

/**
 * The account together with its project. Throws `auth/unauthorized` if either of them was deleted. When a project is deleted,
 * the project disappears before its accounts, so this function checks both.
 */
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
