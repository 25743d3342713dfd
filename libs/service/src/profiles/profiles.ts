import { type PublicUser, usersByIds } from '@kith/contracts';
import type { Bus } from '../bus/bus.ts';
import { ask } from '../operations/ask.ts';

/** A user's public profile with the `seq` of the event that brought it. */
export interface Profile {
  seq: number;
  user: PublicUser;
}

/** A service's own copy of public users (ARCHITECTURE 6). */
export interface ProfileStore {
  /** The profiles there are of these users, by id. */
  find(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>>;
  /** Keeps a profile, unless the one that is held is as new or newer. */
  keep(profile: Profile): Promise<void>;
  /**
   * Takes away what is held of a user whose account has ended. In its place a mark without content stands for as long
   * as events can be on the way, so that a late one does not bring the user back. Repeating it changes nothing.
   */
  forget(of: { projectId: string; userId: string; seq: number }): Promise<void>;
  /** Which of these users are marked as forgotten. */
  forgotten(projectId: string, userIds: readonly string[]): Promise<Set<string>>;
}

/** How long the mark of a forgotten user is kept, in ms: longer than any of its events can be on the way (7 days). */
export const keepForgottenMs = 8 * 24 * 3600 * 1000;

/** Most users one question to identity may name. */
const askLimit = 100;

/**
 * Finds users by id: in the own copy, and in identity those it does not hold (their events are still on the way).
 * A user who is nowhere is absent from the answer. Throws when identity has to be asked and does not answer.
 */
export async function findUsers(
  parts: { bus: Bus; profiles: Pick<ProfileStore, 'find' | 'keep'> },
  of: { projectId: string; userIds: readonly string[] },
  context: { requestId: string; deadline: number },
): Promise<Map<string, PublicUser>> {
  const { projectId, userIds } = of;
  const users = await parts.profiles.find(projectId, userIds);
  const missing = userIds.filter((userId) => !users.has(userId));
  for (let at = 0; at < missing.length; at += askLimit) {
    const some = missing.slice(at, at + askLimit);
    const answer = await ask(parts.bus, usersByIds, { projectId, userIds: some }, context);
    await Promise.all(answer.users.map((profile) => parts.profiles.keep(profile)));
    for (const { user } of answer.users) users.set(user.id, user);
  }
  return users;
}
