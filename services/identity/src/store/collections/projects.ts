import { collection } from '@kith/store';
import { z } from 'zod';
import { placeOf } from '../../listing.ts';
import { type Project, usualExternalAge } from '../records.ts';
import { type AsStored, text, time } from './stored.ts';

/**
 * `publicProfiles`: whether strangers see profiles at all. `wholeProfiles`: whether strangers see whole profiles. Strangers who
 * see profiles, but not whole profiles, see only the fields of a card. Older versions of Kith do not know cards. They have
 * stored only `publicProfiles`, with `true` as the default, so strangers see cards in the projects of these versions.
 */
export type StoredProject = Omit<AsStored<Project, 'id'>, 'publicProfiles'> & {
  publicProfiles: boolean;
  wholeProfiles?: boolean | undefined;
};

/** Projects, keyed by id. */
export const projects = collection<StoredProject>({
  name: 'projects',
  kind: 'target',
  version: 1,
  schema: z.object({
    name: text,
    publicKey: text.nullable(),
    limits: z.custom<Project['limits']>(),
    webOrigins: z.array(text),
    publicProfiles: z.boolean(),
    wholeProfiles: z.boolean().optional(),
    publicConnections: z.boolean(),
    // These fields are missing in projects that an older version has stored.
    storageMib: z.int().nullable().default(null),
    externalTokenMaxAge: z.int().default(usualExternalAge),
    signUp: z.enum(['open', 'closed']).default('open'),
    requireVerifiedEmail: z.boolean().default(false),
    mailLinkBase: text.nullable().default(null),
    mailTexts: z.custom<Project['mailTexts']>().default({}),
    createdAt: time,
    updatedAt: time,
  }),
  indexes: {
    place: { key: ({ createdAt }, id) => placeOf({ createdAt: new Date(createdAt), id }) },
    settings: { key: (project, id) => (hasSettings(project) ? id : null) },
  },
});

/** Projects that are being deleted, with their last settings, keyed by id. */
export const deletingProjects = collection<{
  project: StoredProject;
  since: number;
}>({
  name: 'deletingProjects',
  kind: 'row',
  version: 1,
  schema: z.object({ project: z.custom<StoredProject>(), since: time }),
});

/** Ids of deleted projects of which nothing is left. Gateways refuse them permanently. */
export const deletedProjects = collection<{ at: number }>({
  name: 'deletedProjects',
  kind: 'copy',
  version: 1,
  schema: z.object({ at: time }),
});

/** Kinds of imported password hashes, keyed by project. */
export const hashKinds = collection<{ kinds: string[] }>({
  name: 'hashKinds',
  kind: 'target',
  silent: true,
  version: 1,
  schema: z.object({ kinds: z.array(text) }),
});

/** Whether a project has settings that gateways enforce. */
function hasSettings(project: StoredProject): boolean {
  const { limits, webOrigins, publicProfiles, wholeProfiles, publicConnections, storageMib } = project;
  if (Object.keys(limits).length > 0 || webOrigins.length > 0 || wholeProfiles) return true;
  return !publicProfiles || !publicConnections || storageMib != null;
}
