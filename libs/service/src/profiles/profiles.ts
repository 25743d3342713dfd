import type { PublicUser } from '@kith/contracts';
import type { Bus } from '../bus/bus.ts';

/** A user's public profile with the order of the event that brought it: its epoch and `seq` (`eventOrder`). */
export interface Profile {
  seq: number;
  user: PublicUser;
}

/** A service's own copy of public users (ARCHITECTURE, decision 4). */
export interface ProfileCopy {
  /** The profiles there are of these users, by id. */
  find(projectId: string, userIds: readonly string[]): Promise<Map<string, PublicUser>>;
  /** Keeps a profile, unless the one that is held is as new or newer. */
  keep(profile: Profile): Promise<void>;
  /** Keeps many, each as `keep` does. */
  keepAll(profiles: readonly Profile[]): Promise<void>;
}

/** A copy that marks users whose accounts have ended. */
export interface ProfileStore extends ProfileCopy {
  /**
   * Takes away what is held of a user whose account has ended. In its place a mark without content stands for as long
   * as events can be on the way, so that a late one does not bring the user back. Repeating it changes nothing.
   */
  forget(of: { projectId: string; userId: string; seq: number }): Promise<void>;
  /** Which of these users are marked as forgotten. */
  forgotten(projectId: string, userIds: readonly string[]): Promise<Set<string>>;
}

/** What keeping a copy takes: where it is, and the bus to ask identity on. A service's own context has both. */
export interface ProfileParts {
  bus: Bus;
  store: { profiles: ProfileCopy };
}

/** How long the mark of a forgotten user is kept, in ms: longer than any of its events can be on the way (7 days). */
export const keepForgottenMs = 8 * 24 * 3600 * 1000;
