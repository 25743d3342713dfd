import { type PublicUser, usersByIds } from '@kith/contracts';
import { ask } from '../operations/ask.ts';
import type { ProfileParts } from './profiles.ts';

/** How many users one request to identity may name. */
const askLimit = 100;

interface Users {
  projectId: string;
  userIds: readonly string[];
}

/** What is passed along with a request to identity. */
interface AskContext {
  requestId: string;
  deadline: number;
}

/**
 * Finds users by id. It looks in the service's own copy first. Events of users may still be on the way, so it then asks
 * identity for users that the copy lacks. Users whom identity does not have either are absent from the answer. Throws if
 * identity is asked and does not answer.
 */
export async function findUsers(
  parts: ProfileParts,
  of: Users,
  context: AskContext,
): Promise<Map<string, PublicUser>> {
  const { projectId, userIds } = of;
  const users = await parts.store.profiles.find(projectId, userIds);
  const missing = userIds.filter((userId) => !users.has(userId));
  for (const user of await askForUsers(parts, { projectId, userIds: missing }, context))
    users.set(user.id, user);
  return users;
}

/**
 * Finds users by id, as they are now. It asks identity first, because events of users may still be on the way to the copy. If
 * identity does not answer, it looks in the service's own copy. Users whom identity does not have are absent from the answer.
 * Throws if identity does not answer and the copy lacks one of the users.
 */
export async function findUsersNow(
  parts: ProfileParts,
  of: Users,
  context: AskContext,
): Promise<Map<string, PublicUser>> {
  try {
    return new Map((await askForUsers(parts, of, context)).map((user) => [user.id, user]));
  } catch (error) {
    const users = await parts.store.profiles.find(of.projectId, of.userIds);
    if (of.userIds.some((userId) => !users.has(userId))) throw error;
    return users;
  }
}

/** Asks identity for users and stores them in the copy. Throws if identity does not answer. */
export async function askForUsers(
  { bus, store }: ProfileParts,
  of: Users,
  context: AskContext,
): Promise<PublicUser[]> {
  const { projectId, userIds } = of;
  const users: PublicUser[] = [];
  for (let at = 0; at < userIds.length; at += askLimit) {
    const some = userIds.slice(at, at + askLimit);
    const answer = await ask(bus, usersByIds, { projectId, userIds: some }, context);
    await store.profiles.keepAll(answer.users);
    users.push(...answer.users.map(({ user }) => user));
  }
  return users;
}
