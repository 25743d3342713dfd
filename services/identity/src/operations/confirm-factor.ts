import { ApiError } from '@kith/base';
import { type BodyOf, confirmFactor, mostFactors } from '@kith/contracts';
import { handler } from '@kith/service';
import { afterChange } from '@kith/store';
import type { AppContext } from '../app.ts';
import { accountAndProjectOf } from '../factors/factor-user.ts';
import { verifyNewPasskey } from '../factors/passkeys.ts';
import { makeRecoveryCodes } from '../factors/recovery-codes.ts';
import { invalidFactor } from '../factors/second-factor.ts';
import { factorOf } from '../factors/show.ts';
import { requireOwner } from '../factors/step-up.ts';
import { withNotice } from '../factors/tell.ts';
import { totpStep } from '../factors/totp.ts';
import type { Enrolment, StoredFactor } from '../store/index.ts';

/**
 * Confirms a second factor. For the first factor, the answer also contains the recovery codes (spec#accounts-factors-confirm).
 */
export const confirmFactorHandler = handler(confirmFactor, async (request, app: AppContext) => {
  const { projectId, caller, params, body, clientIp, deadline } = request;
  const { userId } = caller;
  const { project } = await accountAndProjectOf(app, projectId, userId);
  const at = app.now();
  const answer = await app.store.factors.change({ projectId, userId, at, deadline }, async (book) => {
    await requireOwner(app, book, { projectId, caller, at });
    const enrolment = book.enrolments.find(({ id }) => id === params.factorId);
    if (!enrolment) throw new ApiError('auth/factor-not-found');
    if (book.factors.length >= mostFactors) throw new ApiError('auth/too-many-factors');
    const { webOrigins } = project;
    const factor = await confirmed(app, enrolment, body, { userId, webOrigins, at });
    const isKnown = book.factors.some(
      (one) =>
        one.type === 'passkey' && factor?.type === 'passkey' && one.credentialId === factor.credentialId,
    );
    if (!factor || isKnown) throw invalidFactor({ passkey: enrolment.passkey });
    const made = book.factors.length === 0 ? makeRecoveryCodes() : null;
    const next = {
      ...book,
      factors: [...book.factors, factor],
      enrolments: book.enrolments.filter((one) => one !== enrolment),
      recoveryHashes: made?.hashes ?? book.recoveryHashes,
    };
    const told = withNotice(app, next, 'factorAdded');
    return { book: told, result: { factor: factorOf(factor), recoveryCodes: made?.codes ?? null } };
  });
  // The factor is stored by now. The answer must not fail, because it contains the recovery codes.
  const onLeft = (error: unknown) => request.log.warn({ err: error }, 'a passed factor was not counted');
  await afterChange(() => app.attempts.passedFactor({ projectId, userId, clientIp, deadline }).catch(onLeft));
  app.postman.kick();
  request.setHeader('Cache-Control', 'no-store');
  return answer;
});

/**
 * The factor that an enrolment becomes when the user confirms it; null if the given code or passkey is wrong. Throws
 * `auth/invalid-body`.
 */
async function confirmed(
  app: AppContext,
  { id, name, sealed, passkey }: Enrolment,
  shown: BodyOf<typeof confirmFactor>,
  { userId, webOrigins, at }: { userId: string; webOrigins: readonly string[]; at: Date },
): Promise<StoredFactor | null> {
  const common = { id, name, createdAt: at.getTime(), lastUsedAt: null };
  if (sealed !== undefined) {
    if (!shown.code) throw missing('code');
    const step = totpStep(app, { sealed, after: 0, userId }, shown.code.replaceAll(/\s/g, ''), at);
    return step === null ? null : { ...common, type: 'totp', sealed, step };
  }
  if (!passkey) return null;
  if (!shown.passkey) throw missing('passkey');
  const verified = await verifyNewPasskey(shown.passkey, { ...passkey, webOrigins });
  return verified && { ...common, type: 'passkey', ...verified };
}

function missing(field: 'code' | 'passkey'): ApiError {
  return new ApiError('auth/invalid-body', { field, message: `${field} is required.` });
}
