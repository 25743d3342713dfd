import { createClient, type KithClient, type Session } from '@kith/client';
import type { TestUser } from './people.ts';

/**
 * Makes a client that is signed in as a user, for the user's project. If only a project is given, makes a client that is not
 * signed in.
 */
export function testClient(url: string, of: TestUser | { projectId: string }): KithClient {
  return createClient({ url, projectId: of.projectId, session: 'accessToken' in of ? sessionOf(of) : null });
}

function sessionOf({ accessToken, refreshToken, user }: TestUser): Session {
  return { accessToken, refreshToken, user };
}
