import type { Bus } from '@kith/bus';
import { type PublicUser, usersByIds } from '@kith/contracts';
import { ask } from '../operations/ask.ts';
import type { Profile, ProfileParts } from './profiles.ts';

/** How many users one request to identity may name. */
const askLimit = 100;
/** How long to wait for the present profile from identity if the copy has an earlier profile, in ms. */
const presentMs = 500;

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
 * Finds users by id. It first looks in the service's own copy. The copy may lack new users, because their events are still on
 * the way. So the function then asks identity for the missing users. The answer leaves out users that identity does not have
 * either. Throws if identity is asked and does not answer.
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
 * Finds users by id, as they are now. It asks identity, because the service's own copy may be out of date while events of users
 * are still on the way. If identity does not answer soon, the profiles come from the copy. Users whom identity does not have
 * are absent from the answer. Throws if identity does not answer and the copy lacks one of the users.
 */
export async function findUsersNow(
  parts: ProfileParts,
  of: Users,
  context: AskContext,
): Promise<Map<string, PublicUser>> {
  const { bus, store } = parts;
  const copied = await store.profiles.find(of.projectId, of.userIds);
  const isCopied = of.userIds.every((userId) => copied.has(userId));
  const soon = isCopied ? Math.min(Date.now() + presentMs, context.deadline) : context.deadline;
  try {
    const present: Profile[] = [];
    for await (const some of askIdentity(bus, of, { ...context, deadline: soon })) present.push(...some);
    // Stores only missing profiles, because events keep the other profiles up to date.
    await store.profiles.keepAll(present.filter(({ user }) => !copied.has(user.id)));
    return new Map(present.map(({ user }) => [user.id, user]));
  } catch (error) {
    if (!isCopied) throw error;
    return copied;
  }
}

/** Asks identity for users and stores them in the copy. Throws if identity does not answer. */
export async function askForUsers(
  { bus, store }: ProfileParts,
  of: Users,
  context: AskContext,
): Promise<PublicUser[]> {
  const found: PublicUser[] = [];
  for await (const profiles of askIdentity(bus, of, context)) {
    // Stores each answer immediately. If a later answer comes too late, nobody has to ask for these users again.
    await store.profiles.keepAll(profiles);
    found.push(...profiles.map(({ user }) => user));
  }
  return found;
}

/** Asks for a limited number of users at a time, because an answer has only limited room. */
async function* askIdentity(
  bus: Bus,
  { projectId, userIds }: Users,
  context: AskContext,
): AsyncGenerator<Profile[]> {
  for (let at = 0; at < userIds.length; at += askLimit) {
    const some = userIds.slice(at, at + askLimit);
    const { users } = await ask(bus, usersByIds, { projectId, userIds: some }, context);
    yield users;
  }
}
