import { ApiError } from '@kith/base';
import type { AppContext } from './app.ts';
import type { Pair } from './pair.ts';

/** Finds the pair whose current connection or request has this id. Throws `connection/not-found` if there is none. */
export async function pairOfConnection(
  app: Pick<AppContext, 'store'>,
  projectId: string,
  connectionId: string,
): Promise<Pair> {
  const found = await app.store.pairByConnection(projectId, connectionId);
  if (!found) throw new ApiError('connection/not-found');
  return found;
}
