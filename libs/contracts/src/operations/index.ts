import type { OperationSpec } from '../operation.ts';
import * as auth from './auth.ts';
import * as blocks from './blocks.ts';
import * as collections from './collections.ts';
import * as requests from './connection-requests.ts';
import * as connections from './connections.ts';
import * as copies from './copies.ts';
import * as crypto from './crypto.ts';
import * as exporting from './export.ts';
import * as imports from './imports.ts';
import * as notifications from './notifications.ts';
import * as projects from './projects.ts';
import * as suspension from './suspension.ts';
import * as users from './users.ts';

/** Every operation of the HTTP API, subject by subject. */
export const operations: readonly OperationSpec[] = [
  crypto.signTestingJwt,
  crypto.signTestingJwtV2,
  auth.signUp,
  auth.signIn,
  auth.signOut,
  auth.requestNewAccessToken,
  auth.verifyExternalUser,
  auth.changePassword,
  auth.listSessions,
  auth.deleteSession,
  auth.getJwks,
  users.getUser,
  users.getUserByUsername,
  users.getUserByForeignId,
  users.suggestUsers,
  users.checkUsername,
  users.updateUser,
  users.deleteUser,
  exporting.exportUser,
  requests.requestConnection,
  connections.getConnectionStatus,
  connections.deleteConnectionWithUser,
  connections.listUserConnections,
  connections.countUserConnections,
  connections.listConnections,
  connections.countConnections,
  requests.listSentRequests,
  requests.listReceivedRequests,
  requests.acceptConnection,
  requests.declineConnection,
  connections.deleteConnection,
  blocks.blockUser,
  blocks.unblockUser,
  blocks.listBlocks,
  collections.getRootCollection,
  collections.createSubCollection,
  collections.listSubCollections,
  collections.renameCollection,
  collections.deleteCollection,
  collections.listEntities,
  collections.addEntity,
  collections.removeEntity,
  collections.isEntitySaved,
  notifications.listNotifications,
  notifications.countNotifications,
  notifications.markNotificationAsRead,
  notifications.markAllNotificationsAsRead,
  notifications.streamNotifications,
  projects.createProject,
  projects.listProjects,
  projects.getProject,
  projects.getProjectLean,
  copies.rebuildConnectionsProfiles,
  copies.rebuildNotificationsProfiles,
  copies.rebuildIdentityBlocks,
  projects.updateProject,
  projects.listProjectUsers,
  suspension.suspendUser,
  suspension.restoreUser,
  imports.importUsers,
  imports.importConnections,
  imports.importCollections,
  imports.importEntities,
  auth.rotateKeys,
  auth.revokeKey,
];
