import type { AppContext } from './app.ts';
import { hiddenFrom } from './blocks.ts';

/**
 * Returns the users that a caller must not see in a user's list. These are all users whom the caller blocks, and all users who
 * block the caller. If the list's owner hides the list from others, the owner is returned, too. If the owner is returned, the
 * caller gets an empty list (spec#blocks-hides, spec#connections-settings-list).
 */
export async function hiddenInListOf(
  app: Pick<AppContext, 'store'>,
  of: { projectId: string; ownerId: string; callerId: string | undefined; deadline: number },
): Promise<Set<string>> {
  const { projectId, ownerId, callerId, deadline } = of;
  const [hidden, { showsConnections }] = await Promise.all([
    callerId === undefined ? new Set<string>() : hiddenFrom(app, { projectId, userId: callerId, deadline }),
    app.store.settings.of({ projectId, userId: ownerId }),
  ]);
  if (!showsConnections && callerId !== ownerId) hidden.add(ownerId);
  return hidden;
}
