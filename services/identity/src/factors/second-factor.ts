import { ApiError } from '@kith/base';
import { apart } from '@kith/store';
import type { AppContext } from '../app.ts';
import type { FactorAttempt } from '../attempts.ts';
import type { Project, User } from '../store/index.ts';
import { type Shown, useFactor } from './use-factor.ts';

/**
 * Called after the password was found to be right. If the user has a second factor, checks the factor that the request shows
 * (spec#accounts-factors-sign-in). Throws `auth/second-factor-required`, `auth/too-many-attempts` and
 * `auth/invalid-second-factor`.
 */
export async function checkSecondFactor(
  app: AppContext,
  user: User,
  shown: Shown,
  { project, attempt, deadline }: { project: Project; attempt: FactorAttempt; deadline: number },
): Promise<void> {
  const whose = { projectId: user.projectId, userId: user.id };
  if ((await app.store.factors.find(whose)).factors.length === 0) return;
  if (!shown.code && !shown.passkey) throw new ApiError('auth/second-factor-required', { field: 'code' });
  const at = app.now();
  const showing = { userId: user.id, sessionId: null, webOrigins: project.webOrigins, at };
  const use = () =>
    app.store.factors.change({ ...whose, at, deadline }, async (book) => {
      const next = await useFactor(app, book, shown, showing);
      return { book: next, result: next !== null };
    });
  // The factor is used up even if the sign-in is refused later. So `apart` stores its use now. The request's row of the audit
  // log is stored with the session.
  const right = await app.attempts.checkFactor(attempt, () => apart(use));
  if (!right) throw invalidFactor(shown);
}

export function invalidFactor({ passkey }: { passkey?: unknown }): ApiError {
  return new ApiError('auth/invalid-second-factor', { field: passkey ? 'passkey' : 'code' });
}
