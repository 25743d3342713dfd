import { ApiError } from '@kith/base';
import { removeUserFactors } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Removes all second factors of a user for an operator (spec#admin-users-remove-factors). */
export const removeUserFactorsHandler = handler(removeUserFactors, async (request, app: AppContext) => {
  const { params, deadline } = request;
  if (!(await app.store.users.account(params.projectId, params.userId))) throw new ApiError('user/not-found');
  const at = app.now();
  return app.store.factors.change({ ...params, at, deadline }, async (book) => ({
    book: { ...book, factors: [], enrolments: [] },
    result: undefined,
  }));
});
