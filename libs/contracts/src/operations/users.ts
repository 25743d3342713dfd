import { z } from 'zod';
import { internalOperation, operation } from '../operation.ts';
import { avatarText, nameText } from '../profile-texts.ts';
import { clearableText, jsonObject, shownText, text, timestamp, uuid } from '../scalars.ts';
import { nothing, perFiveMinutes } from './shared.ts';

/** The public profile of a user (spec#users-public). */
export const publicUser = z.object({
  id: uuid,
  foreignId: shownText(512).nullable(),
  projectId: uuid,
  role: shownText(64),
  name: shownText(100).nullable(),
  username: shownText(30).nullable(),
  avatar: shownText(2048).nullable(),
  bannerFileId: shownText(64).nullable(),
  avatarFileId: shownText(64).nullable(),
  bio: shownText(300).nullable(),
  birthdate: z.iso.date().nullable(),
  location: shownText(1024).nullable(),
  metadata: z.record(z.string(), z.json()),
  reputation: z.number(),
  createdAt: timestamp,
});
export type PublicUser = z.output<typeof publicUser>;

/** A user as only this user sees it: the public fields and more (spec#users-own). */
export const ownUser = publicUser.extend({
  email: shownText(254).meta({ format: 'email', maxLength: 254 }).nullable(),
  isVerified: z.boolean(),
  isActive: z.boolean(),
  lastActive: timestamp.nullable(),
  updatedAt: timestamp,
});
export type OwnUser = z.output<typeof ownUser>;

/** A user as operators see it, with the suspension if the user is suspended (spec#admin-users-suspension). */
export const projectUser = ownUser.extend({
  suspension: z
    .object({ at: timestamp, until: timestamp.nullable(), reason: shownText(1000).nullable() })
    .nullable(),
});
export type ProjectUser = z.output<typeof projectUser>;

export const username = z
  .string()
  .transform((value) => value.trim())
  .refine(
    (value) => /^[A-Za-z0-9._]{3,30}$/.test(value),
    'must be 3 to 30 letters from A to Z, digits, dots or underscores.',
  )
  .meta({ pattern: '^[A-Za-z0-9._]{3,30}$', maxLength: 30 });

/**
 * The profile fields that a user may set. In a PATCH, an absent field stays as it is. At sign-up, an absent field is empty. The
 * value null empties a field.
 */
export const profileFields = {
  username: username.nullish(),
  name: nameText(100),
  avatar: avatarText(2048),
  bio: clearableText(300),
  location: clearableText(1024).refine(
    (value) => new TextEncoder().encode(value ?? '').length <= 1024,
    'must be at most 1024 bytes long.',
  ),
  birthdate: z.iso.date('must be a date, YYYY-MM-DD.').nullish(),
  metadata: jsonObject(8 * 1024).nullish(),
};

const common = { feature: 'user', scope: 'project' } as const;
const byId = z.object({ userId: uuid });

/**
 * A user's public profile. Server keys get the full profile, and users get it if they ask for their own (spec#users-get,
 * spec#users-own).
 */
export const getUser = operation({
  ...common,
  name: 'identity.get-user',
  serverKey: 'itself',
  summary: 'Get a user',
  method: 'GET',
  path: '/users/:userId',
  auth: 'optional',
  visibility: 'profiles',
  limit: perFiveMinutes(100),
  params: byId,
  query: nothing,
  body: nothing,
  output: z.union([ownUser, publicUser]),
  status: 200,
  errors: ['user/not-found'],
  invalid: { params: 'user/not-found' },
});

const updatedFields = { ...profileFields, avatarFileId: uuid.nullish(), bannerFileId: uuid.nullish() };

/**
 * Changes the caller's own profile (spec#users-update). A server key can change the profile of any user of its project. It can
 * also change `role` and `reputation` (spec#users-role-server-keys).
 */
export const updateUser = operation({
  ...common,
  name: 'identity.update-user',
  serverKey: 'itself',
  summary: "Change the caller's profile",
  method: 'PATCH',
  path: '/users/:userId',
  auth: 'user',
  limit: perFiveMinutes(50),
  params: byId,
  query: nothing,
  body: z.object(updatedFields),
  serverKeyBody: z.object({
    ...updatedFields,
    role: text({ min: 1, max: 64 }).optional(),
    reputation: z.number().optional(),
  }),
  wrapped: 'update',
  output: ownUser,
  status: 200,
  errors: ['user/not-found', 'auth/forbidden', 'DUPLICATE_USERNAME'],
  invalid: { params: 'user/not-found' },
});

const read = {
  ...common,
  method: 'GET',
  limit: perFiveMinutes(100),
  params: nothing,
  body: nothing,
  status: 200,
} as const;

const lookUp = {
  ...read,
  auth: 'optional',
  visibility: 'profiles',
  output: z.union([ownUser, publicUser]),
  errors: ['user/not-found'],
} as const;

/** Finds a user by username, without regard to case (spec#users-by-username). */
export const getUserByUsername = operation({
  ...lookUp,
  name: 'identity.get-user-by-username',
  serverKey: 'itself',
  summary: 'Get a user by username',
  path: '/users/by-username',
  query: z.object({ username: z.string().meta({ maxLength: 30 }) }),
});

/** Finds a user by the id that the user has in the project's own backend (spec#users-by-foreign-id). */
export const getUserByForeignId = operation({
  ...lookUp,
  name: 'identity.get-user-by-foreign-id',
  serverKey: 'itself',
  summary: 'Get a user by foreign id',
  path: '/users/by-foreign-id',
  query: z.object({
    foreignId: z
      .string()
      .transform((id) => id.trim())
      .meta({ maxLength: 512 }),
  }),
});

/**
 * At most 5 users whose username or name contains the query. Names that begin with the query come first. The answer is a bare
 * array (spec#users-suggestions).
 */
export const suggestUsers = operation({
  ...lookUp,
  name: 'identity.suggest-users',
  summary: 'Suggest users whose username or name contains a text',
  path: '/users/suggestions',
  query: z.object({ query: text({ max: 100 }) }),
  output: z.array(publicUser).max(5),
  errors: [],
});

/** Returns whether a username is free (spec#users-check-username). */
export const checkUsername = operation({
  ...read,
  name: 'identity.check-username',
  summary: 'Check whether a username is free',
  path: '/users/check-username',
  auth: 'none',
  query: z.object({ username }),
  output: z.object({ available: z.boolean() }),
  errors: [],
});

/** Erases the caller's account. An event makes every service erase its data about the user (spec#users-erasure). */
export const deleteUser = operation({
  ...common,
  name: 'identity.delete-user',
  audit: 'always',
  serverKey: 'never',
  summary: "Delete the caller's account",
  method: 'DELETE',
  path: '/users/:userId',
  auth: 'user',
  limit: perFiveMinutes(5),
  params: byId,
  query: nothing,
  body: nothing,
  output: z.undefined(),
  status: 204,
  errors: ['user/not-found', 'auth/forbidden', 'auth/step-up-required', 'auth/unauthorized'],
  invalid: { params: 'user/not-found' },
});

/** The project of a user, found by the user's id alone. Null if there is no such user (spec#short-forms-project). */
export const projectOfUser = internalOperation({
  name: 'identity.project-of-user',
  feature: 'user',
  body: z.object({ userId: uuid }),
  output: z.object({ projectId: uuid.nullable() }),
  errors: [],
});

/** The user whom a server key acts for; null if the user does not exist or is suspended (spec#server-keys-forbidden). */
export const actingUser = internalOperation({
  name: 'identity.acting-user',
  feature: 'user',
  body: z.object({ projectId: uuid, userId: uuid }),
  output: z.object({ user: z.object({ role: shownText(64) }).nullable() }),
  errors: [],
});

/**
 * The public profiles of up to 100 users of a project, for the copies of other services. For each user, `seq` is the
 * `eventOrder` of the user's last event.
 */
export const usersByIds = internalOperation({
  name: 'identity.users-by-ids',
  feature: 'user',
  body: z.object({ projectId: uuid, userIds: z.array(uuid).max(100) }),
  output: z.object({ users: z.array(z.object({ seq: z.int(), user: publicUser })) }),
  errors: [],
});

export const userOperations = [
  getUser,
  getUserByUsername,
  getUserByForeignId,
  suggestUsers,
  checkUsername,
  updateUser,
  deleteUser,
] as const;
