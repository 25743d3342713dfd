import { listFactors } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { factorListOf } from '../factors/show.ts';

/** Lists the caller's second factors (spec#accounts-factors-list). */
export const listFactorsHandler = handler(listFactors, async ({ projectId, caller }, app: AppContext) =>
  factorListOf(await app.store.factors.find({ projectId, userId: caller.userId })),
);
