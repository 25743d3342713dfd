import { z } from 'zod';
import { generalList, listQuery } from '../lists.ts';
import { internalOperation, type OperatorScope, operation, operatorScopes } from '../operation.ts';
import { shownText, tellableInstant, text, timestamp, uuid } from '../scalars.ts';
import { nothing } from './shared.ts';

const scope = z.enum(operatorScopes);

/**
 * The rights of an operator key, and the time at which it expires. If `projectIds` is null, the key may act on every project.
 */
const rights = {
  scopes: z.array(scope).max(operatorScopes.length),
  projectIds: z.array(uuid).max(100).nullable(),
  expiresAt: timestamp.nullable(),
};

/** A key as operators see it. It never contains the token (spec#operator-keys-secret). */
export const operatorKey = z.object({
  id: uuid,
  name: shownText(200),
  ...rights,
  createdAt: timestamp,
  /** The time is exact to the minute. Null if the key was never used. */
  lastUsedAt: timestamp.nullable(),
});
export type OperatorKey = z.output<typeof operatorKey>;

const common = {
  feature: 'auth',
  scope: 'none',
  auth: 'operator',
  limit: null,
  params: nothing,
  query: nothing,
  body: nothing,
} as const;

const unique = <T>(values: readonly T[]) => [...new Set(values)];

/**
 * Makes an operator key. Only this answer contains the key's token, because Kith stores only a hash of the token. Only
 * `OPERATOR_TOKEN` may make keys (spec#operator-keys-endpoints).
 */
export const createOperator = operation({
  ...common,
  name: 'identity.create-operator',
  summary: 'Make an operator key',
  method: 'POST',
  path: '/admin/operators',
  body: z.object({
    name: text({ min: 1, max: 200 }),
    scopes: z.array(scope).min(1, 'must name at least one scope.').max(100).transform(unique),
    projectIds: z.array(uuid).min(1, 'must name at least one project.').max(100).transform(unique).nullish(),
    expiresAt: tellableInstant.nullish(),
  }),
  output: z.object({ id: uuid, name: shownText(200), ...rights, token: shownText(100) }),
  status: 201,
  errors: [],
});

/** The operator keys, newest first (spec#operator-keys-endpoints). */
export const listOperators = operation({
  ...common,
  name: 'identity.list-operators',
  summary: 'List operator keys',
  method: 'GET',
  path: '/admin/operators',
  query: listQuery({ limit: 20, max: 100 }),
  output: generalList(operatorKey),
  status: 200,
  errors: [],
});

/** Removes an operator key. After at most a second, every gateway refuses the key's token (spec#operator-keys-endpoints). */
export const deleteOperator = operation({
  ...common,
  name: 'identity.delete-operator',
  summary: 'Remove an operator key',
  method: 'DELETE',
  path: '/admin/operators/:keyId',
  params: z.object({ keyId: uuid }),
  output: z.undefined(),
  status: 204,
  errors: ['auth/key-not-found'],
  invalid: { params: 'auth/key-not-found' },
});

/** A server key as operators see it. It never contains the key itself (spec#server-keys-key). */
export const serverKey = z.object({
  id: uuid,
  name: shownText(200),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable(),
});
export type ServerKey = z.output<typeof serverKey>;

const ofProject = {
  ...common,
  operatorScope: 'keys:write',
  path: '/admin/projects/:projectId/server-keys',
  params: z.object({ projectId: uuid }),
  errors: ['project/not-found'],
  invalid: { params: 'project/not-found' },
} as const;

/**
 * Makes a server key of a project. Only this answer contains the key itself, because Kith stores only a hash of the key
 * (spec#server-keys-endpoints).
 */
export const createServerKey = operation({
  ...ofProject,
  name: 'identity.create-server-key',
  summary: 'Make a server key',
  method: 'POST',
  body: z.object({ name: text({ min: 1, max: 200 }) }),
  output: serverKey.omit({ lastUsedAt: true }).extend({ key: shownText(100) }),
  status: 201,
});

/** A project's server keys, newest first (spec#server-keys-endpoints). */
export const listServerKeys = operation({
  ...ofProject,
  name: 'identity.list-server-keys',
  summary: "List a project's server keys",
  method: 'GET',
  query: listQuery({ limit: 20, max: 100 }),
  output: generalList(serverKey),
  status: 200,
});

/** Removes a server key. After at most a second, every gateway refuses the key (spec#server-keys-endpoints). */
export const deleteServerKey = operation({
  ...ofProject,
  name: 'identity.delete-server-key',
  summary: 'Remove a server key',
  method: 'DELETE',
  path: '/admin/projects/:projectId/server-keys/:keyId',
  params: z.object({ projectId: uuid, keyId: uuid }),
  output: z.undefined(),
  status: 204,
  errors: ['auth/key-not-found'],
  invalid: { params: 'auth/key-not-found' },
});

/**
 * The scopes of a key as a gateway reads them. The schema leaves out scopes that only a newer version of identity knows,
 * because no operation of this gateway needs them. If the schema refused them, one key with such a scope would keep the gateway
 * from reading any key.
 */
const knownScopes = z
  .array(z.string())
  .transform((scopes) => scopes.filter((one): one is OperatorScope => scope.safeParse(one).success));

/** What a gateway knows about a key. The gateway finds the key by the hash of the token that a caller sends. */
export const apiKey = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('operator'), id: uuid, ...rights, scopes: knownScopes }),
  z.object({ kind: z.literal('server'), id: uuid, projectId: uuid }),
]);
export type ApiKey = z.output<typeof apiKey>;

/** Returns all keys to a gateway, page by page (docs/adr/0053). */
export const getApiKeys = internalOperation({
  name: 'identity.api-keys',
  feature: 'auth',
  body: z.object({
    /** Where the last page ended; null for the first page. */
    after: z.string().max(300).nullable(),
  }),
  output: z.object({
    keys: z.array(z.object({ hash: z.string(), key: apiKey })),
    next: z.string().nullable(),
  }),
  errors: [],
});

/** Tells identity the times at which keys were last used. */
export const noteKeyUses = internalOperation({
  name: 'identity.note-key-uses',
  feature: 'auth',
  body: z.object({ uses: z.array(z.object({ hash: z.string().max(100), at: timestamp })).max(1000) }),
  output: z.object({}),
  errors: [],
});

export const operatorKeyOperations = [createOperator, listOperators, deleteOperator] as const;

export const serverKeyOperations = [createServerKey, listServerKeys, deleteServerKey] as const;
