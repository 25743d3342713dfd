import type { IdentityStore, Session } from '../../src/store/index.ts';

/** The sessions of a user that are not revoked, newest first. */
export async function liveSessions(
  store: Pick<IdentityStore, 'sessions'>,
  projectId: string,
  userId: string,
): Promise<Session[]> {
  return (await Array.fromAsync(store.sessions.live(projectId, userId))).flat();
}
