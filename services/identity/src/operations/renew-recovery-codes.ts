import { ApiError } from '@kith/base';
import { renewRecoveryCodes } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { makeRecoveryCodes } from '../factors/recovery-codes.ts';
import { requireOwner } from '../factors/step-up.ts';
import { withNotice } from '../factors/tell.ts';

/** Makes new recovery codes; the same write makes the old ones invalid (spec#accounts-factors-recovery-codes). */
export const renewRecoveryCodesHandler = handler(renewRecoveryCodes, async (request, app: AppContext) => {
  const { projectId, caller, deadline } = request;
  const at = app.now();
  const answer = await app.store.factors.change(
    { projectId, userId: caller.userId, at, deadline },
    async (book) => {
      await requireOwner(app, book, { projectId, caller, at });
      if (book.factors.length === 0) throw new ApiError('auth/factor-not-found');
      const { codes, hashes } = makeRecoveryCodes();
      const renewed = withNotice(app, { ...book, recoveryHashes: hashes }, 'recoveryCodesRenewed');
      return { book: renewed, result: { recoveryCodes: codes } };
    },
  );
  app.postman.kick();
  request.setHeader('Cache-Control', 'no-store');
  return answer;
});
