import { ApiError } from '@kith/base';
import { signUp, userCreated } from '@kith/contracts';
import { handler } from '@kith/service';
import { afterChange } from '@kith/store';
import type { AppContext } from '../app.ts';
import { attemptOf } from '../attempts.ts';
import { newUser } from '../new-user.ts';
import { openSession } from '../open-session.ts';
import { refuseWeak } from '../password-rules.ts';
import { withProfile } from '../profile.ts';
import { userEvent } from '../user-events.ts';

/** Creates an account and its first session (spec#accounts-sign-up). */
export const signUpHandler = handler(
  signUp,
  async (request, app: AppContext) => {
    const { projectId, body, deadline } = request;
    if (!(await app.store.projects.find(projectId))) throw new ApiError('project/not-found');
    await refuseWeak(body.password, body, 'password');
    const passwordHash = await app.passwords.hash(body.password, deadline);
    const now = new Date();
    const { email } = body;
    const user = newUser({ projectId, foreignId: null, email, passwordHash }, withProfile(body), now);
    const outcome = await app.store.users.add(user, userEvent(userCreated, user));
    if (outcome === 'email-taken') throw new ApiError('DUPLICATE_EMAIL', { field: 'email' });
    if (outcome === 'username-taken') throw new ApiError('DUPLICATE_USERNAME', { field: 'username' });
    app.relay.kick();
    const attempt = attemptOf(request, { address: email, userId: user.id });
    await afterChange(() => app.attempts.signedIn(attempt));
    return openSession(app, user, request, now);
  },
  { places: 'own' },
);
