import { ApiError } from '@kith/base';
import { type ErrorCode, signUp, userCreated } from '@kith/contracts';
import { handler } from '@kith/service';
import { afterChange } from '@kith/store';
import { ownerOfAddress } from '../address-owner.ts';
import type { AppContext } from '../app.ts';
import { attemptOf } from '../attempts.ts';
import { strangerOf } from '../audit-log.ts';
import { firstVerification, needMails } from '../mails/mail-user.ts';
import { newUser } from '../new-user.ts';
import { openSession } from '../open-session.ts';
import { refuseWeak } from '../password-rules.ts';
import { withProfile } from '../profile.ts';
import { userEvent } from '../user-events.ts';
import { ownUserOf } from '../user-views.ts';

/** Creates an account and, unless the project requires a verified address, its first session (spec#accounts-sign-up). */
export const signUpHandler = handler(
  signUp,
  async (request, app: AppContext) => {
    const { projectId, body, deadline } = request;
    await refuseWeak(body.password, body, 'password');
    const project = await app.store.projects.find(projectId);
    if (!project) throw new ApiError('project/not-found');
    if (project.signUp === 'closed') throw new ApiError('auth/sign-up-closed');
    const { requireVerifiedEmail } = project;
    if (requireVerifiedEmail) needMails(app);
    const passwordHash = await app.passwords.hash(body.password, deadline);
    const now = new Date();
    const { email } = body;
    const user = newUser({ projectId, foreignId: null, email, passwordHash }, withProfile(body), now);
    // If a sign-up is refused, its row in the audit log names the owner of the address, as at sign-in. So the row is found when
    // this owner is erased.
    const refusal = (code: ErrorCode, field: string, owner: string | null) => {
      request.audit.tell({ actor: owner ? `user:${owner}` : strangerOf(app, projectId, email) });
      return new ApiError(code, { field });
    };
    const findOwner = () => ownerOfAddress(app, { projectId, address: email });
    const owner = await findOwner();
    if (owner) throw refusal('DUPLICATE_EMAIL', 'email', owner);
    const mail = requireVerifiedEmail ? firstVerification(project, email) : undefined;
    request.audit.tell({ actor: `user:${user.id}` });
    const outcome = await app.store.users.add(user, userEvent(userCreated, user), mail);
    if (outcome === 'email-taken') throw refusal('DUPLICATE_EMAIL', 'email', await findOwner());
    if (outcome === 'username-taken') throw refusal('DUPLICATE_USERNAME', 'username', null);
    app.relay.kick();
    if (requireVerifiedEmail) {
      app.postman.kick();
      return { success: true as const, accessToken: null, refreshToken: null, user: ownUserOf(user) };
    }
    const attempt = attemptOf(request, { address: email, userId: user.id });
    // The account is stored by now, so the answer must not fail because of this.
    const onLeft = (error: unknown) => request.log.warn({ err: error }, 'a sign-up was not counted');
    await afterChange(() => app.attempts.signedIn(attempt).catch(onLeft));
    return openSession(app, user, request, now);
  },
  { places: 'own' },
);
