import type { AppContext } from './app.ts';
import { hiddenFrom } from './blocks.ts';

/**
 * Whom a caller is not to see in the list of a user: whom the caller blocks or is blocked by, and the list's owner where that user
 * keeps it from others. Then the list is empty (spec#blocks-hides, spec#connections-settings-list).
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
