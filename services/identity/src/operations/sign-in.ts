import { signIn } from '@kith/contracts';
import { ApiError, handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { openSession } from '../open-session.ts';

/** Opens a session; an unknown address gets the answer of a wrong password, after the same time (SPEC B1). */
export const signInHandler = handler(signIn, async (request, app: AppContext) => {
  const { projectId, body, deadline } = request;
  if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
  const user = await app.store.users.findByEmail(projectId, body.email);
  const right = await app.passwords.verify(body.password, user?.passwordHash ?? null, deadline);
  if (!user || !right) throw new ApiError('auth/invalid-credentials');
  if (!user.isActive) throw new ApiError('auth/suspended');
  const now = new Date();
  await app.store.users.touch(projectId, user.id, now);
  return openSession(app, { ...user, lastActive: now }, request, now, 'auth/invalid-credentials');
});
