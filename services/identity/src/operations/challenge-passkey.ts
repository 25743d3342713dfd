import { challengePasskey } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { challengeUser } from '../factors/challenge.ts';

/** Makes a challenge for a step-up in the caller's session (spec#accounts-factors-challenge). */
export const challengePasskeyHandler = handler(challengePasskey, async (request, app: AppContext) => {
  const { projectId, caller, body, deadline } = request;
  const { userId, sessionId } = caller;
  return challengeUser(app, { projectId, userId, rpId: body.rpId, sessionId, deadline });
});
