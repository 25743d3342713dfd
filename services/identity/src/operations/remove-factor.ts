import { ApiError } from '@kith/base';
import { removeFactor } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { requireOwner } from '../factors/step-up.ts';
import { withNotice } from '../factors/tell.ts';

/** Removes one of the caller's second factors (spec#accounts-factors-remove). */
export const removeFactorHandler = handler(removeFactor, async (request, app: AppContext) => {
  const { projectId, caller, params, deadline } = request;
  const at = app.now();
  const done = await app.store.factors.change(
    { projectId, userId: caller.userId, at, deadline },
    async (book) => {
      await requireOwner(app, book, { projectId, caller, at });
      const factors = book.factors.filter(({ id }) => id !== params.factorId);
      if (factors.length === book.factors.length) throw new ApiError('auth/factor-not-found');
      return { book: withNotice(app, { ...book, factors }, 'factorRemoved'), result: undefined };
    },
  );
  app.postman.kick();
  return done;
});
