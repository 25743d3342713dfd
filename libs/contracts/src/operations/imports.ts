import { z } from 'zod';
import { internalOperation, operation } from '../operation.ts';
import { clearableText, instant, jsonObject, shownText, text, uuid, wholeNumber } from '../scalars.ts';
import { savableEntityId } from './collections.ts';
import { email } from './email.ts';
import { passwordHash } from './password-hash.ts';
import { nothing } from './shared.ts';
import { fileUpload, longestEdge, maxVariants, qualityText, sizesText, variantName } from './storage.ts';
import { profileFields } from './users.ts';

/** The largest number of rows in a request. The size limit of all bodies applies too (spec#requests-too-large). */
export const importRows = 1_000;

/** An instant from another backend: ISO 8601 with any offset, from 1970 on. It is stored as UTC with milliseconds. */
const foreignInstant = instant
  .refine((value) => {
    const ms = Date.parse(value);
    return ms >= 0 && ms < 9_999_999_999_999;
  }, 'must be a time from 1970 to 2286.')
  .transform((value) => new Date(value).toISOString());
/** An id from another backend. */
export const foreignId = text({ min: 1, max: 512 });
const ofUser = { userId: uuid.optional(), userForeignId: foreignId.optional() };
const namesUser = (row: { userId?: string | undefined; userForeignId?: string | undefined }) =>
  row.userId !== undefined || row.userForeignId !== undefined;
const userMissing = { path: ['userId'], error: 'Give userId or userForeignId.' };

/**
 * A user to import. The user's id is `id`, or is derived from the project and `foreignId`. So the same row always means the
 * same user. Unknown fields are refused. Otherwise a password hash under a wrong field name would be ignored, and the user
 * could not sign in.
 */
export const importedUser = z
  .strictObject({
    id: uuid.optional(),
    foreignId: foreignId.optional(),
    email: email.nullish(),
    passwordHash: passwordHash.nullish(),
    ...profileFields,
    role: text({ min: 1, max: 64 }).optional(),
    reputation: z.number().optional(),
    isVerified: z.boolean().optional(),
    createdAt: foreignInstant.optional(),
  })
  .refine((row) => row.id !== undefined || row.foreignId !== undefined, {
    path: ['foreignId'],
    error: 'Give foreignId or id.',
  });
export type ImportedUser = z.output<typeof importedUser>;

const isRequester = (row: { requesterId?: string | undefined; requesterForeignId?: string | undefined }) =>
  row.requesterId !== undefined || row.requesterForeignId !== undefined;
const isReceiver = (row: { receiverId?: string | undefined; receiverForeignId?: string | undefined }) =>
  row.receiverId !== undefined || row.receiverForeignId !== undefined;

/**
 * A connection or request between two users. `connectedAt` is the time at which the request was accepted or declined; if it is
 * absent, `requestedAt` is used.
 */
export const importedConnection = z
  .strictObject({
    id: uuid.optional(),
    requesterId: uuid.optional(),
    requesterForeignId: foreignId.optional(),
    receiverId: uuid.optional(),
    receiverForeignId: foreignId.optional(),
    state: z.enum(['pending', 'accepted', 'declined']).default('accepted'),
    message: clearableText(1000),
    requestedAt: foreignInstant,
    connectedAt: foreignInstant.optional(),
  })
  .refine(isRequester, { path: ['requesterId'], error: 'Give requesterId or requesterForeignId.' })
  .refine(isReceiver, { path: ['receiverId'], error: 'Give receiverId or receiverForeignId.' });
export type ImportedConnection = z.output<typeof importedConnection>;

/**
 * A collection of a user, below the root or below the collection of another row. `id` is the collection's id in the other
 * backend, and other rows use this id to name the collection. In Kith, the collection gets an id that is derived from the user
 * and `id`.
 */
export const importedCollection = z
  .strictObject({
    ...ofUser,
    id: foreignId,
    parentId: foreignId.nullish(),
    name: text({ min: 1, max: 200 }),
    createdAt: foreignInstant,
  })
  .refine(namesUser, userMissing);
export type ImportedCollection = z.output<typeof importedCollection>;

/** A saved entity. `collectionId` is the `id` of an `importedCollection`. Without `collectionId`, the entity is in the root. */
export const importedEntity = z
  .strictObject({
    ...ofUser,
    collectionId: foreignId.nullish(),
    entityId: savableEntityId,
    addedAt: foreignInstant,
    metadata: jsonObject(8 * 1024).nullish(),
  })
  .refine(namesUser, userMissing);
export type ImportedEntity = z.output<typeof importedEntity>;

const ofFile = {
  ...ofUser,
  id: uuid,
  kind: z.enum(['file', 'image']).default('file'),
  createdAt: foreignInstant,
};
const fitsItsKind = ({ kind, sizes, quality }: { kind: string; sizes?: unknown; quality?: unknown }) =>
  kind === 'image' || (sizes === undefined && quality === undefined);
const notAnImage = { path: ['kind'], error: 'must be image if sizes or quality is given.' };

/**
 * A file of a user. `path` is where the bytes are, relative to the folder of the file that contains this row. Anyone who knows
 * `id` can read the file. So it must be impossible to guess `id`. For example, `id` must not be a serial number of the other
 * backend, and must not be derived from a serial number.
 */
export const importedFile = z
  .strictObject({
    ...ofFile,
    path: text({ min: 1, max: 4096 }),
    name: text({ min: 1, max: 255 }).optional(),
    sizes: z
      .record(z.string().regex(variantName), z.int().min(1).max(longestEdge))
      .refine((sizes) => Object.keys(sizes).length <= maxVariants, `must have at most ${maxVariants} names.`)
      .optional(),
    quality: z.int().min(1).max(100).optional(),
  })
  .refine(namesUser, userMissing)
  .refine(fitsItsKind, notAnImage);
export type ImportedFile = z.output<typeof importedFile>;

/** The reasons for which a row is rejected. */
export const importReasons = [
  'id-taken',
  'foreign-id-taken',
  'email-taken',
  'username-taken',
  'conflict',
  'too-many-hash-kinds',
  'hashes-too-costly',
  'user-not-found',
  'same-user',
  'pair-taken',
  'parent-not-found',
  'too-deep',
  'deleted',
  'collection-not-found',
  'invalid-image',
  'quota-exceeded',
] as const;
export type ImportReason = (typeof importReasons)[number];

/**
 * What happened to the rows of a request. `imported` counts the new rows. `unchanged` counts the rows that are already stored
 * exactly as given. `rejected` has the rows that cannot be imported, by their index. The reason `conflict` means that the
 * object is already stored with other values. `fields` names the fields that differ.
 */
export const importResult = z.object({
  imported: wholeNumber,
  unchanged: wholeNumber,
  rejected: z
    .array(
      z.object({
        row: wholeNumber,
        reason: z.enum(importReasons),
        fields: z.array(shownText(64)).max(32).optional(),
      }),
    )
    .max(importRows),
});
export type ImportResult = z.output<typeof importResult>;

const common = {
  method: 'POST',
  scope: 'none',
  auth: 'operator',
  operatorScope: 'projects:write',
  limit: null,
  params: z.object({ projectId: uuid }),
  query: nothing,
  output: importResult,
  status: 200,
  errors: ['project/not-found'],
  invalid: { params: 'project/not-found' },
} as const;
const rowsOf = <Row extends z.ZodType>(row: Row) => z.object({ rows: z.array(row).min(1).max(importRows) });

/** Imports users of another backend. If a user already exists, the row changes nothing (docs/import.md). */
export const importUsers = operation({
  ...common,
  name: 'identity.import-users',
  summary: 'Import users',
  feature: 'user',
  path: '/admin/projects/:projectId/import/users',
  body: rowsOf(importedUser),
});

/** Imports connections, pending requests and declined requests between users. Nobody is notified (docs/import.md). */
export const importConnections = operation({
  ...common,
  name: 'connections.import',
  summary: 'Import connections between users',
  feature: 'connection',
  path: '/admin/projects/:projectId/import/connections',
  body: rowsOf(importedConnection),
});

/** Imports users' collections. The row of a parent must come before the rows of the collections below it (docs/import.md). */
export const importCollections = operation({
  ...common,
  name: 'collections.import',
  summary: 'Import collections',
  feature: 'collection',
  path: '/admin/projects/:projectId/import/collections',
  body: rowsOf(importedCollection),
});

/** Imports the saved entities of collections (docs/import.md). */
export const importEntities = operation({
  ...common,
  name: 'collections.import-entities',
  summary: 'Import the entities that are saved in collections',
  feature: 'collection',
  path: '/admin/projects/:projectId/import/entities',
  body: rowsOf(importedEntity),
});

/** Imports a file of a user, one per request. The other fields of the form must come before the file (docs/import.md). */
export const importFile = operation({
  ...common,
  name: 'storage.import-file',
  summary: 'Import a file',
  feature: 'storage',
  kind: 'upload',
  path: '/admin/projects/:projectId/import/files',
  upload: { ...fileUpload, fileLast: true },
  body: z
    .strictObject({ ...ofFile, sizes: sizesText.optional(), quality: qualityText.optional() })
    .refine(namesUser, userMissing)
    .refine(fitsItsKind, notAnImage),
  errors: ['project/not-found', 'storage/no-file', 'storage/file-too-large'],
});

/** Returns which of these users exist. A service calls this before it imports rows that name users. */
export const knownUsers = internalOperation({
  name: 'identity.known-users',
  feature: 'user',
  body: z.object({
    projectId: uuid,
    ids: z.array(uuid).max(2 * importRows),
    foreignIds: z.array(z.string()).max(2 * importRows),
  }),
  output: z.object({
    isProject: z.boolean(),
    ids: z.array(uuid),
    foreignIds: z.array(z.object({ foreignId: shownText(512), id: uuid })),
  }),
  errors: [],
});

export const importOperations = [
  importUsers,
  importConnections,
  importCollections,
  importEntities,
  importFile,
] as const;
