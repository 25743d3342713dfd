import { type PublicUser, usersByIds } from '@kith/contracts';
import { ask } from '../operations/ask.ts';
import type { ProfileParts } from './profiles.ts';

/** How many users one question to identity may name. */
const askLimit = 100;

interface Users {
  projectId: string;
  userIds: readonly string[];
}

/** What is passed along with a question to identity. */
interface AskContext {
  requestId: string;
  deadline: number;
}

/**
 * Finds users by id: in the service's own copy, and in identity those that the copy lacks (their events are still on the way).
 * A user who is in neither is absent from the answer. Throws when identity has to be asked and does not answer.
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

/** Asks identity for users and keeps its answer. Throws when identity does not answer. */
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
