import { ApiError } from '@kith/base';
import type { signIn } from '@kith/contracts';
import type { OperationRequest } from '@kith/service';
import type { AppContext } from './app.ts';
import { type Attempt, attemptOf } from './attempts.ts';
import { strangerOf } from './audit-log.ts';
import { importedHash } from './imported-hash.ts';
import type { Project, User } from './store/index.ts';
import { notSuspended } from './suspension.ts';

/** The parts of a request that are needed to check its e-mail address and password. */
export interface CredentialsRequest {
  projectId: string;
  body: { email: string; password: string };
  clientIp: string;
  deadline: number;
  audit: OperationRequest<typeof signIn>['audit'];
}

/**
 * Finds the user who has the given e-mail address and password. An unknown address gets the same answer as a wrong password,
 * and after the same time (spec#accounts-sign-in). Throws `project/not-found`, `auth/too-many-attempts`,
 * `auth/invalid-credentials` and `auth/suspended`.
 */
export async function checkCredentials(
  app: AppContext,
  request: CredentialsRequest,
): Promise<{ user: User; project: Project; attempt: Attempt & { userId: string } }> {
  const { projectId, body, deadline } = request;
  const project = await app.store.projects.find(projectId);
  if (!project) throw new ApiError('project/not-found');
  const found = await app.store.users.findByEmail(projectId, body.email);
  request.audit.tell({ actor: found ? `user:${found.id}` : strangerOf(app, projectId, body.email) });
  const attempt = attemptOf(request, { address: body.email, userId: found?.id ?? null });
  const hash = found?.passwordHash ?? null;
  // For a user with an imported hash, the password is first checked as if nobody had the address. So this check fails, and the
  // failure is counted. The imported hash is verified only after that. If the deadline passes while the verification waits for
  // its turn, the failure is already counted. So the count does not show who was imported (spec#accounts-attempts-imported). If
  // the imported hash matches, the failure is taken back.
  const own = importedHash(hash) === null ? hash : null;
  const verify = () => app.passwords.verify(body.password, own, deadline);
  const verifyOthers = async () => {
    const kinds = await app.store.imports.hashKinds(projectId);
    return app.passwords.verifyOthers(body.password, hash, { kinds, deadline });
  };
  const right = await app.attempts.check(attempt, verify, verifyOthers);
  if (!found || !right) throw new ApiError('auth/invalid-credentials');
  const user = await notSuspended(app, found, deadline);
  // If a suspension has just run out, `notSuspended` has read the user again. Since the first read, the user's password may
  // have changed, or the account may have been deleted. In both cases, the sign-in is refused.
  if (user?.sessionEpoch !== found.sessionEpoch) throw new ApiError('auth/invalid-credentials');
  return { user, project, attempt: { ...attempt, userId: user.id } };
}
