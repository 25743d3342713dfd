import type { AppContext } from './app.ts';
import { hiddenFrom } from './blocks.ts';

/**
 * The users that a caller must not see in a user's list: everybody the caller blocks or is blocked by, and the list's
 * owner if the owner keeps the list from others. If the owner is among them, the list is empty (spec#blocks-hides,
 * spec#connections-settings-list).
 */
export async function hiddenInListOf(
  app: Pick<AppContext, 'store'>,
  of: { projectId: string; ownerId: string; callerId: string | undefined },
): Promise<Set<string>> {
  const { projectId, ownerId, callerId } = of;
  const [hidden, { showsConnections }] = await Promise.all([
    callerId === undefined ? new Set<string>() : hiddenFrom(app, { projectId, userId: callerId }),
    app.store.settings.of({ projectId, userId: ownerId }),
  ]);
  if (!showsConnections && callerId !== ownerId) hidden.add(ownerId);
  return hidden;
}
