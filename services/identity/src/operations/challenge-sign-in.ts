import { challengeSignIn } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { checkCredentials } from '../check-credentials.ts';
import { challengeUser } from '../factors/challenge.ts';
import { refuseUnverified } from '../mails/refuse-unverified.ts';

/** Makes a challenge for the sign-in of a client that knows the password (spec#accounts-factors-sign-in-challenge). */
export const challengeSignInHandler = handler(
  challengeSignIn,
  async (request, app: AppContext) => {
    const { user, project } = await checkCredentials(app, request);
    await refuseUnverified(app, project, user);
    const { projectId, body, deadline } = request;
    return challengeUser(app, { projectId, userId: user.id, rpId: body.rpId, sessionId: null, deadline });
  },
  { places: 'own' },
);
