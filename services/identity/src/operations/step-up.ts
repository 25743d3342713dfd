import { ApiError } from '@kith/base';
import { type BodyOf, stepUp } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { attemptOf } from '../attempts.ts';
import { accountAndProjectOf } from '../factors/factor-user.ts';
import { invalidFactor } from '../factors/second-factor.ts';
import { proofMs, withProof } from '../factors/step-up.ts';
import { useFactor } from '../factors/use-factor.ts';

/**
 * Checks a password or a second factor of the caller, and stores a proof for the session of the access token
 * (spec#accounts-step-up).
 */
export const stepUpHandler = handler(
  stepUp,
  async (request, app: AppContext) => {
    const { projectId, caller, body, deadline } = request;
    const { userId, sessionId } = caller;
    const { password, code, passkey } = body;
    refuseUnlessOne(body);
    const { user, project } = await accountAndProjectOf(app, projectId, userId);
    const at = app.now();
    const showing = { userId, sessionId, webOrigins: project.webOrigins, at };
    const attempt = attemptOf(request, { address: user.email ?? userId, userId });
    const prove = () =>
      app.store.factors.change({ projectId, userId, at, deadline }, async (book) => {
        const used = password == null ? await useFactor(app, book, { code, passkey }, showing) : book;
        return { book: used && withProof(used, sessionId, at), result: used !== null };
      });
    const verify = async () =>
      password != null && (await app.passwords.verify(password, user.passwordHash, deadline)) && prove();
    const right = await (password == null
      ? app.attempts.checkFactor(attempt, prove)
      : app.attempts.check(attempt, verify));
    if (!right) throw password == null ? invalidFactor(body) : new ApiError('auth/invalid-credentials');
    return { success: true as const, expiresAt: new Date(at.getTime() + proofMs).toISOString() };
  },
  { places: 'own' },
);

const proofs = ['password', 'code', 'passkey'] as const;

/**
 * Throws `auth/invalid-body` if not exactly one proof was sent. If none was sent, `field` is `password`. If several were sent,
 * `field` names the second of them.
 */
function refuseUnlessOne(body: BodyOf<typeof stepUp>): void {
  const given = proofs.filter((name) => body[name] != null);
  if (given.length === 1) return;
  const [first, field = 'password'] = given;
  const message =
    first === undefined
      ? 'Send one of password, code and passkey.'
      : `${field} cannot be sent together with ${first}. Send one of password, code and passkey.`;
  throw new ApiError('auth/invalid-body', { field, message });
}
