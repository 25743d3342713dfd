import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { operation } from '../operation.ts';
import { clearableText, tellableInstant, text, uuid, wholeNumber } from '../scalars.ts';
import { passwordBody, sessionInfo } from './auth.ts';
import { nothing } from './shared.ts';
import { projectUser } from './users.ts';

/** What operators' endpoints about one user have in common. */
const oneUser = {
  scope: 'none',
  auth: 'operator',
  limit: null,
  params: z.object({ projectId: uuid, userId: uuid }),
  query: nothing,
  status: 200,
  errors: ['user/not-found'],
  invalid: { params: 'user/not-found' },
} as const;

/**
 * Changes the fields of a user that only operators may set, and returns the user. An access token contains the role that the
 * user had when the token was issued. So after a change, tokens have the new role only after the session is refreshed
 * (spec#admin-users-update).
 */
export const changeUser = operation({
  ...oneUser,
  name: 'identity.change-user',
  operatorScope: 'users:write',
  summary: "Change a user's role, reputation or verification",
  feature: 'user',
  method: 'PATCH',
  path: '/admin/projects/:projectId/users/:userId',
  body: z.object({
    role: text({ min: 1, max: 64 }).optional(),
    reputation: z.number().optional(),
    isVerified: z.boolean().optional(),
  }),
  output: projectUser,
});

const suspending = {
  ...oneUser,
  feature: 'user',
  method: 'POST',
  output: projectUser,
} as const;

/**
 * Suspends a user and returns the user. The user's tokens become invalid immediately, and the sessions end. The suspension ends
 * by itself at `until`. Repeating the same call changes nothing. If a call has another reason or time, its values replace the
 * old ones (spec#admin-users-suspend).
 */
export const suspendUser = operation({
  ...suspending,
  name: 'identity.suspend-user',
  operatorScope: 'users:write',
  summary: 'Suspend a user',
  path: '/admin/projects/:projectId/users/:userId/suspend',
  body: z.object({
    /** Shown only to operators. */
    reason: clearableText(1000),
    until: tellableInstant.nullish(),
  }),
});

/** Lets a suspended user sign in again, and returns the user. Repeating the call changes nothing (spec#admin-users-restore). */
export const restoreUser = operation({
  ...suspending,
  name: 'identity.restore-user',
  operatorScope: 'users:write',
  summary: 'Restore a suspended user',
  path: '/admin/projects/:projectId/users/:userId/restore',
  body: nothing,
});

const account = { ...oneUser, feature: 'auth' } as const;

/** Sets a user's password and ends all sessions. Returns the user (spec#admin-users-set-password). */
export const setPassword = operation({
  ...account,
  name: 'identity.set-password',
  operatorScope: 'keys:write',
  summary: "Set a user's password",
  method: 'POST',
  path: '/admin/projects/:projectId/users/:userId/set-password',
  body: passwordBody,
  output: projectUser,
  errors: ['auth/weak-password', 'auth/not-password-user', 'user/not-found'],
});

/** A user's sessions, newest first (spec#admin-users-sessions). */
export const listUserSessions = operation({
  ...account,
  name: 'identity.list-user-sessions',
  operatorScope: 'users:read',
  summary: "List a user's sessions",
  method: 'GET',
  path: '/admin/projects/:projectId/users/:userId/sessions',
  query: listQuery({ limit: 20, max: 100 }),
  body: nothing,
  output: generalList(sessionInfo.omit({ current: true })),
});

/** Ends all sessions of a user. Their access tokens become invalid immediately (spec#admin-users-end-sessions). */
export const endUserSessions = operation({
  ...account,
  name: 'identity.end-user-sessions',
  operatorScope: 'users:write',
  summary: "End a user's sessions",
  method: 'DELETE',
  path: '/admin/projects/:projectId/users/:userId/sessions',
  body: nothing,
  output: z.undefined(),
  status: 204,
});

/** Removes all second factors and recovery codes of a user who has lost them (spec#admin-users-remove-factors). */
export const removeUserFactors = operation({
  ...account,
  name: 'identity.remove-user-factors',
  operatorScope: 'users:write',
  summary: "Remove a user's second factors",
  method: 'DELETE',
  path: '/admin/projects/:projectId/users/:userId/factors',
  body: nothing,
  output: z.undefined(),
  status: 204,
});

/** The largest number of users in a request of `announceErasures`. */
export const announcedAtOnce = 500;

/**
 * Announces again that users were deleted, so that services erase what they still store about these users. Needed if a service
 * has missed the first announcement (docs/upgrading.md). Users who exist are left out, and `existing` is their number. For nine
 * days, imports refuse the ids of the announced users. The call may be repeated.
 */
export const announceErasures = operation({
  name: 'identity.announce-erasures',
  operatorScope: 'projects:write',
  summary: 'Announce again that users were deleted',
  feature: 'user',
  method: 'POST',
  path: '/admin/projects/:projectId/erasures',
  scope: 'none',
  auth: 'operator',
  limit: null,
  params: z.object({ projectId: uuid }),
  query: nothing,
  body: z.object({ userIds: z.array(uuid).min(1).max(announcedAtOnce) }),
  output: z.object({ announced: wholeNumber, existing: wholeNumber }),
  status: 200,
  errors: [],
  invalid: { params: 'project/not-found' },
  // The deletion of a project does not end while a service still stores data of the project's users.
  answersDeleted: true,
});

export const adminUserOperations = [
  changeUser,
  suspendUser,
  restoreUser,
  setPassword,
  listUserSessions,
  endUserSessions,
  removeUserFactors,
  announceErasures,
] as const;
