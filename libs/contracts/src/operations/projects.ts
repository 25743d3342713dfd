import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { internalOperation, operation } from '../operation.ts';
import { jsonObject, shownText, sized, text, timestamp, uuid, wholeNumber } from '../scalars.ts';
import { webOrigin } from '../web-origin.ts';
import { givenMailTexts, mailLinkBase, mailTexts } from './mail-settings.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { projectUser } from './users.ts';

const limit = z.object({
  max: z.int().min(1),
  windowSeconds: z
    .int()
    .min(1)
    .max(7 * 24 * 3600),
});

/** What callers who are not signed in can see of a profile: a part (`card`), all of it, or nothing. */
const publicProfiles = z.enum(['card', 'all', 'none']);

/** A project as operators see it (spec#projects). */
export const project = z.object({
  id: uuid,
  name: shownText(200),
  /** The key that verifies the JWTs of the project's own backend: SPKI as PEM. */
  publicKey: shownText(16 * 1024).nullable(),
  /**
   * The project's own limits of operations. They replace the limits of the contract and the configuration. Null means no limit
   * (spec#projects-limits).
   */
  limits: z.record(z.string(), limit.nullable()),
  /**
   * The web origins whose pages may call addresses with the id of this project. If the list is empty, the pages of the origins
   * in `CORS_ORIGINS` may do so.
   */
  webOrigins: z.array(shownText(300)).max(100),
  /** What callers who are not signed in see of profiles (spec#users-strangers). */
  publicProfiles,
  /**
   * Whether callers who are not signed in may see users' lists of connections. These lists show profiles, so they are never
   * more public than profiles.
   */
  publicConnections: z.boolean(),
  /** How many MiB of files the project may store. Null means the value of the configuration (spec#storage-quota). */
  storageMib: wholeNumber.nullable(),
  /** The longest lifetime of the JWTs of the project's own backend, in seconds (spec#accounts-external-max-age). */
  externalTokenMaxAge: wholeNumber,
  /** Whether anybody may sign up (spec#accounts-sign-up-closed). */
  signUp: z.enum(['open', 'closed']),
  /** Whether users sign in only with a verified e-mail address (spec#accounts-unverified-sign-in). */
  requireVerifiedEmail: z.boolean(),
  /** The application's page that the links in mails open. Null means the first of `webOrigins` (spec#accounts-mail-texts). */
  mailLinkBase: shownText(2048).nullable(),
  /** Subjects and texts of mails that replace the usual ones, by kind (spec#accounts-mail-texts). */
  mailTexts: mailTexts,
  createdAt: timestamp,
  updatedAt: timestamp,
  /**
   * Null if the project is not being deleted. While the project is being deleted, `since` is the time at which the deletion
   * began, and `usersLeft` is the number of users who are not deleted yet.
   */
  deletion: z.object({ since: timestamp, usersLeft: wholeNumber }).nullable(),
});
export type Project = z.output<typeof project>;

/** The part of a project's settings that gateways use. If `publicProfiles` is `none`, `publicConnections` is false. */
export const gatewaySettings = project
  .pick({ limits: true, webOrigins: true, publicConnections: true })
  .extend({
    projectId: uuid,
    /**
     * An older version of identity does not send this field; then the value is `card`. If a newer version of identity sends an
     * unknown value, the value counts as `none`, which shows the least.
     */
    publicProfiles: publicProfiles.catch('none').default('card'),
    storageMib: wholeNumber.optional(),
    /**
     * Set when the project is deleted, and never removed again. From then on, only operations with `answersDeleted` answer for
     * the project (spec#projects-deleting).
     */
    isDeleted: z.literal(true).optional(),
  });
export type GatewaySettings = z.output<typeof gatewaySettings>;

/** The older, boolean values of `publicProfiles` (spec#users-strangers-boolean). */
const booleans = { true: 'all', false: 'none' } as const;

const name = text({ min: 1, max: 200 });

/**
 * What an operator may set on a project. A PATCH does not change absent fields. In a new project, an absent field gets its
 * default.
 */
const settings = {
  publicKey: z
    .union([z.string().max(16 * 1024), jsonObject(16 * 1024)], 'must be a public key as PEM or JWK.')
    .nullable()
    .optional(),
  limits: sized(z.record(z.string(), limit.strict().nullable()), (limits) =>
    Object.keys(limits).length > 200 ? 'must name at most 200 operations.' : undefined,
  ).optional(),
  webOrigins: z
    .array(webOrigin)
    .max(100)
    .transform((origins) => [...new Set(origins)])
    .optional(),
  publicProfiles: z
    .union([publicProfiles, z.boolean()], 'must be "card", "all" or "none".')
    .transform((value) => (typeof value === 'boolean' ? booleans[`${value}`] : value))
    .optional(),
  publicConnections: z.boolean().optional(),
  storageMib: wholeNumber.max(1_000_000_000).nullable().optional(),
  externalTokenMaxAge: z
    .int('must be 3,600 to 86,400 seconds.')
    .min(3600, 'must be 3,600 to 86,400 seconds.')
    .max(86_400, 'must be 3,600 to 86,400 seconds.')
    .optional(),
  signUp: z.enum(['open', 'closed']).optional(),
  requireVerifiedEmail: z.boolean().optional(),
  mailLinkBase: mailLinkBase.nullable().optional(),
  mailTexts: givenMailTexts.optional(),
};

const common = {
  feature: 'project',
  scope: 'none',
  auth: 'operator',
  limit: null,
} as const;
const one = {
  ...common,
  path: '/admin/projects/:projectId',
  params: z.object({ projectId: uuid }),
  query: nothing,
  output: project,
  status: 200,
  errors: ['project/not-found'],
  invalid: { params: 'project/not-found' },
} as const;

/** Registers a project: one application, with its own users (spec#projects-create). */
export const createProject = operation({
  ...common,
  name: 'identity.create-project',
  operatorScope: 'projects:write',
  summary: 'Register a project',
  method: 'POST',
  path: '/admin/projects',
  params: nothing,
  query: nothing,
  body: z.object({ name, ...settings }),
  output: project,
  status: 201,
  errors: [],
});

/** All projects, newest first (spec#projects-list). */
export const listProjects = operation({
  ...common,
  name: 'identity.list-projects',
  operatorScope: 'projects:read',
  narrowsToProjects: true,
  summary: 'List projects',
  method: 'GET',
  path: '/admin/projects',
  params: nothing,
  query: listQuery({ limit: 20, max: 100 }),
  body: nothing,
  output: generalList(project),
  status: 200,
  errors: [],
});

/** Looks up a project. A project that is being deleted is found until all its data is erased (spec#projects-get). */
export const getProject = operation({
  ...one,
  name: 'identity.get-project',
  operatorScope: 'projects:read',
  summary: 'Get a project',
  method: 'GET',
  body: nothing,
  answersDeleted: true,
});

/** The answer to a request that deletes a project. The deletion itself continues in the background. */
export const deletedProject = z.object({ id: uuid, status: z.literal('deleting') });
export type DeletedProject = z.output<typeof deletedProject>;

/**
 * Deletes a project permanently. From then on, requests to the project are refused. Its data is erased in the background; `GET`
 * shows the progress. Repeating the call changes nothing (spec#projects-delete).
 */
export const deleteProject = operation({
  ...one,
  name: 'identity.delete-project',
  operatorScope: 'projects:write',
  summary: 'Delete a project and all its data',
  method: 'DELETE',
  body: nothing,
  output: deletedProject,
  status: 202,
  answersDeleted: true,
});

/** Changes a project's name or settings. If `publicKey` is null, the key is removed (spec#projects-update). */
export const updateProject = operation({
  ...one,
  name: 'identity.update-project',
  operatorScope: 'projects:write',
  summary: "Change a project's name or settings",
  method: 'PATCH',
  body: z.object({ name: name.optional(), ...settings }),
});

/** Returns the settings of all projects whose settings are not the defaults, for gateways (docs/adr/0013). */
export const getProjectSettings = internalOperation({
  name: 'identity.project-settings',
  feature: 'project',
  body: z.object({
    /** Where the last page ended; null for the first page. */
    after: uuid.nullable(),
  }),
  output: z.object({ projects: z.array(gatewaySettings), next: uuid.nullable() }),
  errors: [],
});

/** A project's users, newest first. `query` is a part of the username, name or e-mail address (spec#admin-users-list). */
export const listProjectUsers = operation({
  ...one,
  name: 'identity.list-project-users',
  operatorScope: 'users:read',
  summary: "List a project's users",
  method: 'GET',
  path: '/admin/projects/:projectId/users',
  query: listQuery({ limit: 20, max: 100 }).extend({ query: text({ max: 100 }).optional() }),
  body: nothing,
  output: generalList(projectUser),
});

/** The project data that older client libraries read before anybody has signed in (spec#existing-clients-lean). */
export const getProjectLean = operation({
  name: 'identity.get-project-lean',
  summary: 'Get the public data of a project',
  feature: 'project',
  method: 'GET',
  path: '/projects/lean',
  scope: 'project',
  auth: 'none',
  limit: perFiveMinutes(100),
  params: nothing,
  query: nothing,
  body: nothing,
  output: z.object({ id: uuid, name: shownText(200), integrations: z.array(z.never()).max(0) }),
  status: 200,
  errors: ['project/not-found'],
});

export const projectOperations = [createProject, listProjects, getProject, getProjectLean] as const;

export const projectUpkeepOperations = [updateProject, deleteProject, listProjectUsers] as const;
