// Made from the contracts by tools/client.ts.
import type { List } from '../list.ts';
import type { CallOptions, OperationTable } from '../operation.ts';
import type { UploadOptions } from '../upload-options.ts';
import type {
  AuditRow,
  DeletedProject,
  ImportResult,
  Methods,
  OperatorKey,
  Project,
  ProjectUser,
  ServerKey,
  SigningKey,
} from './types.ts';

export interface StorageMethods {
  /**
   * Deletes a file of any user of a project, for example a damaged file.
   *
   * Errors of this method: `storage/not-found`, `storage/server-error`.
   */
  deleteProjectFile(
    input: Methods['storage.deleteProjectFile']['input'],
    options?: CallOptions,
  ): Promise<void>;
  /**
   * Imports a file of a user, one per request. The other fields of the form must come before the file (docs/import.md).
   *
   * Errors of this method: `project/not-found`, `storage/no-file`, `storage/file-too-large`, `storage/server-error`, `storage/invalid-body`.
   */
  importFile(input: Methods['storage.importFile']['input'], options?: UploadOptions): Promise<ImportResult>;
}

export interface ProjectsMethods {
  /**
   * Registers a project: one application, with its own users.
   *
   * Errors of this method: `project/server-error`, `project/invalid-body`.
   */
  create(input: Methods['projects.create']['input'], options?: CallOptions): Promise<Project>;
  /**
   * All projects, newest first.
   *
   * Errors of this method: `project/server-error`, `project/invalid-query`.
   */
  list(input?: Methods['projects.list']['input'], options?: CallOptions): List<Project>;
  /**
   * Looks up a project. A project that is being deleted is found until all its data is erased.
   *
   * Errors of this method: `project/not-found`, `project/server-error`.
   */
  get(input: Methods['projects.get']['input'], options?: CallOptions): Promise<Project>;
  /**
   * Changes a project's name or settings. If `publicKey` is null, the key is removed.
   *
   * Errors of this method: `project/not-found`, `project/server-error`, `project/invalid-body`.
   */
  update(input: Methods['projects.update']['input'], options?: CallOptions): Promise<Project>;
  /**
   * Deletes a project permanently. From then on, requests to the project are refused. Its data is erased in the background; `GET` shows the progress. Repeating the call changes nothing.
   *
   * Errors of this method: `project/not-found`, `project/server-error`.
   */
  delete(input: Methods['projects.delete']['input'], options?: CallOptions): Promise<DeletedProject>;
  /**
   * A project's users, newest first. `query` is a part of the username, name or e-mail address.
   *
   * Errors of this method: `project/not-found`, `project/server-error`, `project/invalid-query`.
   */
  listUsers(input: Methods['projects.listUsers']['input'], options?: CallOptions): List<ProjectUser>;
}

export interface ConnectionsMethods {
  /**
   * Copies a page of the identity service's users into the copy of profiles that the connections service keeps. Call again with the returned `next` as `after`, until `next` is null.
   *
   * Errors of this method: `auth/forbidden`, `connection/server-error`, `connection/invalid-body`.
   */
  rebuildProfiles(
    input?: Methods['connections.rebuildProfiles']['input'],
    options?: CallOptions,
  ): Promise<{ copied: number; next: string | null }>;
  /**
   * Imports connections, pending requests and declined requests between users. Nobody is notified (docs/import.md).
   *
   * Errors of this method: `project/not-found`, `connection/server-error`, `connection/invalid-body`.
   */
  import(input: Methods['connections.import']['input'], options?: CallOptions): Promise<ImportResult>;
}

export interface NotificationsMethods {
  /**
   * Copies a page of the identity service's users into the copy of profiles that the notifications service keeps. Call again with the returned `next` as `after`, until `next` is null.
   *
   * Errors of this method: `auth/forbidden`, `app-notification/server-error`, `app-notification/invalid-body`.
   */
  rebuildProfiles(
    input?: Methods['notifications.rebuildProfiles']['input'],
    options?: CallOptions,
  ): Promise<{ copied: number; next: string | null }>;
}

export interface UsersMethods {
  /**
   * Copies a page of the connections service's blocks into the copy of blocks that the identity service keeps. After the last page, removes from this copy the blocks that no longer exist in the connections service. Call again with the returned `next` as `after`, until `next` is null.
   *
   * Errors of this method: `auth/forbidden`, `user/server-error`, `user/invalid-body`.
   */
  rebuildBlocks(
    input?: Methods['users.rebuildBlocks']['input'],
    options?: CallOptions,
  ): Promise<{ copied: number; next: string | null }>;
  /**
   * Changes the fields of a user that only operators may set, and returns the user. An access token contains the role that the user had when the token was issued. So after a change, tokens have the new role only after the session is refreshed.
   *
   * Errors of this method: `user/not-found`, `user/server-error`, `user/invalid-body`.
   */
  change(input: Methods['users.change']['input'], options?: CallOptions): Promise<ProjectUser>;
  /**
   * Suspends a user and returns the user. The user's tokens become invalid immediately, and the sessions end. The suspension ends by itself at `until`. Repeating the same call changes nothing. If a call has another reason or time, its values replace the old ones.
   *
   * Errors of this method: `user/not-found`, `user/server-error`, `user/invalid-body`.
   */
  suspend(input: Methods['users.suspend']['input'], options?: CallOptions): Promise<ProjectUser>;
  /**
   * Lets a suspended user sign in again, and returns the user. Repeating the call changes nothing.
   *
   * Errors of this method: `user/not-found`, `user/server-error`.
   */
  restore(input: Methods['users.restore']['input'], options?: CallOptions): Promise<ProjectUser>;
  /**
   * Announces again that users were deleted, so that services erase what they still store about these users. Needed if a service has missed the first announcement (docs/upgrading.md). Users who exist are left out, and `existing` is their number. For nine days, imports refuse the ids of the announced users. The call may be repeated.
   *
   * Errors of this method: `project/not-found`, `user/server-error`, `user/invalid-body`.
   */
  announceErasures(
    input: Methods['users.announceErasures']['input'],
    options?: CallOptions,
  ): Promise<{ announced: number; existing: number }>;
  /**
   * Imports users of another backend. If a user already exists, the row changes nothing (docs/import.md).
   *
   * Errors of this method: `project/not-found`, `user/server-error`, `user/invalid-body`.
   */
  import(input: Methods['users.import']['input'], options?: CallOptions): Promise<ImportResult>;
}

export interface AuthMethods {
  /**
   * Sets a user's password and ends all sessions. Returns the user.
   *
   * Errors of this method: `auth/weak-password`, `auth/not-password-user`, `user/not-found`, `auth/server-error`, `auth/invalid-body`.
   */
  setPassword(input: Methods['auth.setPassword']['input'], options?: CallOptions): Promise<ProjectUser>;
  /**
   * A user's sessions, newest first.
   *
   * Errors of this method: `user/not-found`, `auth/server-error`, `auth/invalid-query`.
   */
  listUserSessions(
    input: Methods['auth.listUserSessions']['input'],
    options?: CallOptions,
  ): List<{ id: string; createdAt: string; lastUsedAt: string; userAgent: string | null; ip: string | null }>;
  /**
   * Ends all sessions of a user. Their access tokens become invalid immediately.
   *
   * Errors of this method: `user/not-found`, `auth/server-error`.
   */
  endUserSessions(input: Methods['auth.endUserSessions']['input'], options?: CallOptions): Promise<void>;
  /**
   * Removes all second factors and recovery codes of a user who has lost them.
   *
   * Errors of this method: `user/not-found`, `auth/server-error`.
   */
  removeUserFactors(input: Methods['auth.removeUserFactors']['input'], options?: CallOptions): Promise<void>;
  /**
   * Makes a new key for access tokens. The key begins to sign after every verifier has had time to load it. If there is already a new key that does not sign yet, no key is made. Tokens that older keys signed stay valid.
   *
   * Errors of this method: `auth/server-error`.
   */
  rotateKeys(options?: CallOptions): Promise<{ keys: Array<SigningKey> }>;
  /**
   * Takes a key out of use immediately. Gateways no longer accept the access tokens that it signed, so users have to refresh their sessions or sign in again. If this key signs new tokens, another key replaces it in the same step. Repeating the call changes nothing.
   *
   * Errors of this method: `auth/key-not-found`, `auth/server-error`, `auth/invalid-body`.
   */
  revokeKey(
    input: Methods['auth.revokeKey']['input'],
    options?: CallOptions,
  ): Promise<{ keys: Array<SigningKey> }>;
  /**
   * Makes an operator key. Only this answer contains the key's token, because Kith stores only a hash of the token. Only `OPERATOR_TOKEN` may make keys.
   *
   * Errors of this method: `auth/server-error`, `auth/invalid-body`.
   */
  createOperator(
    input: Methods['auth.createOperator']['input'],
    options?: CallOptions,
  ): Promise<Methods['auth.createOperator']['output']>;
  /**
   * The operator keys, newest first.
   *
   * Errors of this method: `auth/server-error`, `auth/invalid-query`.
   */
  listOperators(input?: Methods['auth.listOperators']['input'], options?: CallOptions): List<OperatorKey>;
  /**
   * Removes an operator key. After at most a second, every gateway refuses the key's token.
   *
   * Errors of this method: `auth/key-not-found`, `auth/server-error`.
   */
  deleteOperator(input: Methods['auth.deleteOperator']['input'], options?: CallOptions): Promise<void>;
  /**
   * Makes a server key of a project. Only this answer contains the key itself, because Kith stores only a hash of the key.
   *
   * Errors of this method: `project/not-found`, `auth/server-error`, `auth/invalid-body`.
   */
  createServerKey(
    input: Methods['auth.createServerKey']['input'],
    options?: CallOptions,
  ): Promise<{ id: string; name: string; createdAt: string; key: string }>;
  /**
   * A project's server keys, newest first.
   *
   * Errors of this method: `project/not-found`, `auth/server-error`, `auth/invalid-query`.
   */
  listServerKeys(input: Methods['auth.listServerKeys']['input'], options?: CallOptions): List<ServerKey>;
  /**
   * Removes a server key. After at most a second, every gateway refuses the key.
   *
   * Errors of this method: `auth/key-not-found`, `auth/server-error`.
   */
  deleteServerKey(input: Methods['auth.deleteServerKey']['input'], options?: CallOptions): Promise<void>;
  /**
   * The audit log, newest first.
   *
   * Errors of this method: `auth/forbidden`, `auth/server-error`, `auth/invalid-query`.
   */
  listAudit(input?: Methods['auth.listAudit']['input'], options?: CallOptions): List<AuditRow>;
}

export interface CollectionsMethods {
  /**
   * Imports users' collections. The row of a parent must come before the rows of the collections below it (docs/import.md).
   *
   * Errors of this method: `project/not-found`, `collection/server-error`, `collection/invalid-body`.
   */
  import(input: Methods['collections.import']['input'], options?: CallOptions): Promise<ImportResult>;
  /**
   * Imports the saved entities of collections (docs/import.md).
   *
   * Errors of this method: `project/not-found`, `collection/server-error`, `collection/invalid-body`.
   */
  importEntities(
    input: Methods['collections.importEntities']['input'],
    options?: CallOptions,
  ): Promise<ImportResult>;
}

/** All groups of methods. */
export interface MethodGroups {
  readonly storage: StorageMethods;
  readonly projects: ProjectsMethods;
  readonly connections: ConnectionsMethods;
  readonly notifications: NotificationsMethods;
  readonly users: UsersMethods;
  readonly auth: AuthMethods;
  readonly collections: CollectionsMethods;
}

export const operations = {
  storage: {
    deleteProjectFile: {
      method: 'DELETE',
      path: '/admin/projects/:projectId/files/:fileId',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    importFile: {
      method: 'POST',
      path: '/admin/projects/:projectId/import/files',
      auth: 'operator',
      isGlobal: true,
      upload: 'file',
      takesInput: true,
    },
  },
  projects: {
    create: { method: 'POST', path: '/admin/projects', auth: 'operator', isGlobal: true, takesInput: true },
    list: {
      method: 'GET',
      path: '/admin/projects',
      auth: 'operator',
      isGlobal: true,
      list: 'data',
      takesInput: true,
    },
    get: {
      method: 'GET',
      path: '/admin/projects/:projectId',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    update: {
      method: 'PATCH',
      path: '/admin/projects/:projectId',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    delete: {
      method: 'DELETE',
      path: '/admin/projects/:projectId',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    listUsers: {
      method: 'GET',
      path: '/admin/projects/:projectId/users',
      auth: 'operator',
      isGlobal: true,
      list: 'data',
      takesInput: true,
    },
  },
  connections: {
    rebuildProfiles: {
      method: 'POST',
      path: '/admin/copies/connections-profiles',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    import: {
      method: 'POST',
      path: '/admin/projects/:projectId/import/connections',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
  },
  notifications: {
    rebuildProfiles: {
      method: 'POST',
      path: '/admin/copies/notifications-profiles',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
  },
  users: {
    rebuildBlocks: {
      method: 'POST',
      path: '/admin/copies/identity-blocks',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    change: {
      method: 'PATCH',
      path: '/admin/projects/:projectId/users/:userId',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    suspend: {
      method: 'POST',
      path: '/admin/projects/:projectId/users/:userId/suspend',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    restore: {
      method: 'POST',
      path: '/admin/projects/:projectId/users/:userId/restore',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    announceErasures: {
      method: 'POST',
      path: '/admin/projects/:projectId/erasures',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    import: {
      method: 'POST',
      path: '/admin/projects/:projectId/import/users',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
  },
  auth: {
    setPassword: {
      method: 'POST',
      path: '/admin/projects/:projectId/users/:userId/set-password',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    listUserSessions: {
      method: 'GET',
      path: '/admin/projects/:projectId/users/:userId/sessions',
      auth: 'operator',
      isGlobal: true,
      list: 'data',
      takesInput: true,
    },
    endUserSessions: {
      method: 'DELETE',
      path: '/admin/projects/:projectId/users/:userId/sessions',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    removeUserFactors: {
      method: 'DELETE',
      path: '/admin/projects/:projectId/users/:userId/factors',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    rotateKeys: { method: 'POST', path: '/admin/keys/rotate', auth: 'operator', isGlobal: true },
    revokeKey: {
      method: 'POST',
      path: '/admin/keys/revoke',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    createOperator: {
      method: 'POST',
      path: '/admin/operators',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    listOperators: {
      method: 'GET',
      path: '/admin/operators',
      auth: 'operator',
      isGlobal: true,
      list: 'data',
      takesInput: true,
    },
    deleteOperator: {
      method: 'DELETE',
      path: '/admin/operators/:keyId',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    createServerKey: {
      method: 'POST',
      path: '/admin/projects/:projectId/server-keys',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    listServerKeys: {
      method: 'GET',
      path: '/admin/projects/:projectId/server-keys',
      auth: 'operator',
      isGlobal: true,
      list: 'data',
      takesInput: true,
    },
    deleteServerKey: {
      method: 'DELETE',
      path: '/admin/projects/:projectId/server-keys/:keyId',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    listAudit: {
      method: 'GET',
      path: '/admin/audit',
      auth: 'operator',
      isGlobal: true,
      list: 'data',
      takesInput: true,
    },
  },
  collections: {
    import: {
      method: 'POST',
      path: '/admin/projects/:projectId/import/collections',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
    importEntities: {
      method: 'POST',
      path: '/admin/projects/:projectId/import/entities',
      auth: 'operator',
      isGlobal: true,
      takesInput: true,
    },
  },
} satisfies OperationTable;
