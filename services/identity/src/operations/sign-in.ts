import { ApiError, DeadlinePassed } from '@kith/base';
import { signIn } from '@kith/contracts';
import { handler, type OperationRequest } from '@kith/service';
import type { AppContext } from '../app.ts';
import { attemptOf } from '../attempts.ts';
import { importedHash } from '../imported-hash.ts';
import { openSession } from '../open-session.ts';
import type { User } from '../store/index.ts';
import { notSuspended } from '../suspension.ts';

/** Opens a session; an unknown address gets the answer of a wrong password, after the same time (spec#accounts-sign-in). */
export const signInHandler = handler(
  signIn,
  async (request, app: AppContext) => {
    const { projectId, body, deadline } = request;
    if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
    const found = await app.store.users.findByEmail(projectId, body.email);
    const attempt = attemptOf(request, { address: body.email, userId: found?.id ?? null });
    const right = await app.attempts.check(attempt, async () => {
      const hash = found?.passwordHash ?? null;
      if (await app.passwords.verify(body.password, hash, deadline)) return true;
      const kinds = await app.store.imports.hashKinds(projectId);
      await app.passwords.spendOthers(body.password, hash, { kinds, deadline });
      return false;
    });
    if (!found || !right) throw new ApiError('auth/invalid-credentials');
    const user = await notSuspended(app, found, deadline);
    await replaceImportedHash(app, user, request);
    const now = new Date();
    await Promise.all([
      app.store.users.touch(projectId, user.id, now),
      app.attempts.signedIn({ ...attempt, userId: user.id }),
    ]);
    return openSession(app, { ...user, lastActive: now }, request, now, 'auth/invalid-credentials');
  },
  { places: 'own' },
);

/** Makes a hash of our own in the place of an imported one, now that the password is known. */
async function replaceImportedHash(
  app: AppContext,
  user: User,
  { body, deadline, log }: Pick<OperationRequest<typeof signIn>, 'body' | 'deadline' | 'log'>,
): Promise<void> {
  if (user.passwordHash === null || importedHash(user.passwordHash) === null) return;
  try {
    const hash = await app.passwords.hash(body.password, deadline);
    await app.store.imports.replaceHash(user, user.passwordHash, hash);
  } catch (error) {
    if (error instanceof DeadlinePassed) throw error;
    // The old hash opens the account as well, until a later sign-in replaces it.
    log.warn({ err: error }, 'an imported password hash is not replaced yet');
  }
}
