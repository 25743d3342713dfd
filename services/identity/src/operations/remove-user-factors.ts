import { ApiError } from '@kith/base';
import { removeUserFactors } from '@kith/contracts';
import { handler } from '@kith/service';
import { afterChange } from '@kith/store';
import type { AppContext } from '../app.ts';
import { withNotice } from '../factors/tell.ts';

/** For an operator, removes all second factors of a user (spec#admin-users-remove-factors). */
export const removeUserFactorsHandler = handler(removeUserFactors, async (request, app: AppContext) => {
  const { params, deadline } = request;
  if (!(await app.store.users.account(params.projectId, params.userId))) throw new ApiError('user/not-found');
  const at = app.now();
  const done = await app.store.factors.change({ ...params, at, deadline }, async (book) => {
    const emptied = { ...book, factors: [], enrolments: [] };
    const isToTell = book.factors.length > 0;
    return { book: isToTell ? withNotice(app, emptied, 'factorRemoved') : emptied, result: undefined };
  });
  await afterChange(() => app.attempts.endFactors(params));
  app.postman.kick();
  return done;
});
