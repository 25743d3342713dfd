import { DeadlinePassed } from '@kith/base';
import { signIn } from '@kith/contracts';
import { handler, type OperationRequest } from '@kith/service';
import { apart } from '@kith/store';
import type { AppContext } from '../app.ts';
import { checkCredentials } from '../check-credentials.ts';
import { checkSecondFactor } from '../factors/second-factor.ts';
import { importedHash } from '../imported-hash.ts';
import { refuseUnverified } from '../mails/refuse-unverified.ts';
import { openSession } from '../open-session.ts';
import type { User } from '../store/index.ts';

/** Opens a session by password, and by a second factor if the user has one (spec#accounts-sign-in). */
export const signInHandler = handler(
  signIn,
  async (request, app: AppContext) => {
    const { projectId, body, deadline } = request;
    const { user, project, attempt } = await checkCredentials(app, request);
    await refuseUnverified(app, project, user);
    await checkSecondFactor(app, user, body, { project, attempt, deadline });
    await replaceImportedHash(app, user, request);
    const now = new Date();
    // The audit log's row of the sign-in is stored with the session, not with this change.
    const touch = () => app.store.users.touch(projectId, user.id, now);
    await apart(() => Promise.all([touch(), app.attempts.signedIn(attempt)]));
    return openSession(app, { ...user, lastActive: now }, request, now, 'auth/invalid-credentials');
  },
  { places: 'own' },
);

/**
 * Replaces an imported password hash by one of our own kind. This is possible here, because a sign-in contains the password.
 */
async function replaceImportedHash(
  app: AppContext,
  user: User,
  { body, deadline, log }: Pick<OperationRequest<typeof signIn>, 'body' | 'deadline' | 'log'>,
): Promise<void> {
  if (user.passwordHash === null || importedHash(user.passwordHash) === null) return;
  try {
    const hash = await app.passwords.hash(body.password, deadline);
    const { passwordHash } = user;
    await apart(() => app.store.imports.replaceHash(user, passwordHash, hash));
  } catch (error) {
    if (error instanceof DeadlinePassed) throw error;
    // The sign-in still succeeds: the old hash stays valid, and a later sign-in replaces it.
    log.warn({ err: error }, 'an imported password hash was not replaced; a later sign-in replaces it');
  }
}
