import { type PublicUser, userCreated, usersByIds, userUpdated } from '@kith/contracts';
import { ask, type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from './app.ts';

/** Keeps the own copy of public users up to date; by `seq`, so that order and repeats do not matter. */
export const profileEvents: EventSubscription<AppContext> = subscription({
  durable: 'connections-profiles',
  events: [userCreated, userUpdated],
  apply: (event, app: AppContext) => app.store.keepProfile({ seq: event.aggregate.seq, user: event.data }),
});

/** Most users one question to identity may name. */
const askLimit = 100;

interface AskContext {
  requestId: string;
  deadline: number;
}

/**
 * Finds users by id: in the own copy, and in identity those it does not hold (their events are still on the way).
 * A user who is nowhere is absent from the answer. Throws when identity has to be asked and does not answer.
 */
export async function findUsers(
  app: AppContext,
  of: { projectId: string; userIds: readonly string[] },
  context: AskContext,
): Promise<Map<string, PublicUser>> {
  const { projectId, userIds } = of;
  const users = await app.store.profiles(projectId, userIds);
  const missing = userIds.filter((userId) => !users.has(userId));
  for (const user of await askForUsers(app, { projectId, userIds: missing }, context))
    users.set(user.id, user);
  return users;
}

/** Asks identity for users and keeps what it tells. Throws when it does not answer. */
export async function askForUsers(
  app: AppContext,
  of: { projectId: string; userIds: readonly string[] },
  context: AskContext,
): Promise<PublicUser[]> {
  const { projectId, userIds } = of;
  const users: PublicUser[] = [];
  for (let at = 0; at < userIds.length; at += askLimit) {
    const some = userIds.slice(at, at + askLimit);
    const answer = await ask(app.bus, usersByIds, { projectId, userIds: some }, context);
    await Promise.all(answer.users.map((profile) => app.store.keepProfile(profile)));
    users.push(...answer.users.map(({ user }) => user));
  }
  return users;
}

/**
 * Stands in a list for a user who can not be found. The entry stays: without it pages, totals and cursors would
 * contradict each other, and its owner could not end a connection that still counts. `createdAt` is the latest it can be.
 */
export function unknownUser(projectId: string, id: string, existedBy: Date): PublicUser {
  return {
    id,
    foreignId: null,
    projectId,
    role: 'visitor',
    name: null,
    username: null,
    avatar: null,
    bannerFileId: null,
    avatarFileId: null,
    bio: null,
    birthdate: null,
    location: null,
    metadata: {},
    reputation: 0,
    createdAt: existedBy.toISOString(),
  };
}
