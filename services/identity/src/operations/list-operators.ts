import { generalPaginationOf, listOperators } from '@kith/contracts';
import { handler } from '@kith/service';
import { operatorKeyOf } from '../api-key-views.ts';
import type { AppContext } from '../app.ts';
import { readPage } from '../listing.ts';

/** Lists the operator keys, newest first, by page or by cursor (spec#operator-keys-endpoints). */
export const listOperatorsHandler = handler(listOperators, async (request, app: AppContext) => {
  const found = await readPage(request, {
    binding: [listOperators.name],
    code: 'auth/invalid-query',
    read: (range) => app.store.apiKeys.list(null, range),
  });
  return { data: found.rows.map(operatorKeyOf), pagination: generalPaginationOf(found) };
});
