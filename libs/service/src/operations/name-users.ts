import { ApiError } from '@kith/base';
import type { Bus } from '@kith/bus';
import { knownUsers } from '@kith/contracts';
import { ask } from './ask.ts';

/** How a row names a user: by the user's id, or by the user's id in the project's own backend. */
export interface UserName {
  id?: string | undefined;
  foreignId?: string | undefined;
}

/**
 * Asks identity for the users who are named in the rows. Returns a function that turns a name into the id of the user, or into
 * `undefined` if there is no such user. Throws `project/not-found`, and what `ask` throws.
 */
export async function nameUsers(
  bus: Bus,
  of: { projectId: string; names: readonly UserName[] },
  context: { requestId: string; deadline: number },
): Promise<(name: UserName) => string | undefined> {
  const { projectId, names } = of;
  const ids = new Set<string>();
  const foreignIds = new Set<string>();
  for (const { id, foreignId } of names) {
    if (id !== undefined) ids.add(id);
    else if (foreignId !== undefined) foreignIds.add(foreignId);
  }
  const known = await ask(
    bus,
    knownUsers,
    { projectId, ids: [...ids], foreignIds: [...foreignIds] },
    context,
  );
  if (!known.isProject) throw new ApiError('project/not-found');
  const there = new Set(known.ids);
  const byForeignId = new Map(known.foreignIds.map(({ foreignId, id }) => [foreignId, id]));
  return ({ id, foreignId }) => {
    if (id !== undefined) return there.has(id) ? id : undefined;
    return foreignId === undefined ? undefined : byForeignId.get(foreignId);
  };
}
