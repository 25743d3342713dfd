import type { IdentityStore, Session } from '../../src/store/index.ts';

/** The sessions of a user that are not revoked, newest first. */
export async function liveSessions(
  store: Pick<IdentityStore, 'sessions'>,
  projectId: string,
  userId: string,
): Promise<Session[]> {
  const all: Session[] = [];
  for await (const some of store.sessions.live(projectId, userId)) all.push(...some);
  return all;
}
