import { z } from 'zod';
import type { Feature } from '../errors.ts';
import { type ExportSection, internalOperation, operation } from '../operation.ts';
import { shownText, timestamp, uuid } from '../scalars.ts';
import { auditRow } from './audit.ts';
import { sessionInfo } from './auth.ts';
import { standingBlock } from './blocks.ts';
import { collection, savedEntity } from './collections.ts';
import { connectionRequest } from './connection-requests.ts';
import { connection } from './connections.ts';
import { factorList } from './factors.ts';
import { mailKinds } from './mail-settings.ts';
import { appNotification } from './notifications.ts';
import { nothing, perFiveMinutes } from './shared.ts';
import { storedFile, storedImage } from './storage.ts';
import { connectionSettings, notificationSettings } from './user-settings.ts';
import { ownUser } from './users.ts';

/**
 * The largest number of items in a page. A page also has at most about `exportPageBytes` bytes, unless a single item is larger.
 */
export const exportPageItems = 200;
/**
 * The approximate largest size of a page, in bytes. It is far below the size of the largest message on the bus. It is also far
 * below the size of the data that a gateway may hold in memory for an export.
 */
export const exportPageBytes = 256 * 1024;

/**
 * The request for a page: the user, where the last page ended, and the largest number of items. For the first page, `after` is
 * null.
 */
const range = z.object({
  projectId: uuid,
  userId: uuid,
  after: z.string().max(300).nullable(),
  limit: z.int().min(1).max(exportPageItems),
});

/**
 * Declares the operation with which a service lists one kind of a user's data. If an item is added or removed during the
 * export, the list may or may not contain the item.
 */
function section<const Name extends `${string}.export-${string}`, Item extends z.ZodType>(
  name: Name,
  feature: Feature,
  item: Item,
) {
  const output = z.object({ items: z.array(item), next: z.string().nullable() });
  return internalOperation({ name, feature, body: range, output, errors: [] });
}

/** A declined request. The user is either the person who sent the request or the person who declined it. */
const declinedRequest = connectionRequest.extend({ respondedAt: timestamp });

/** A saved entity with the id of its collection. `id` is the id of the entity. */
const exportedEntity = savedEntity.omit({ isSaved: true }).extend({ collectionId: uuid });

/** The user's current sessions, newest first, without any token. */
export const exportSessions = section(
  'identity.export-sessions',
  'auth',
  sessionInfo.omit({ current: true }).extend({ expiresAt: timestamp }),
);

/**
 * The mails that were requested for the user and whose token is still valid. The export shows the address of each mail, but not
 * the token.
 */
export const exportMails = section(
  'identity.export-mails',
  'auth',
  z.object({ kind: z.enum(mailKinds), address: shownText(254), until: timestamp }),
);

/**
 * The rows of the audit log about the user, newest first. If an operator or a server key acted, `ip` and `requestId` are null,
 * because they do not belong to the user.
 */
export const exportAudit = section(
  'identity.export-audit',
  'auth',
  auditRow
    .omit({ id: true, projectId: true })
    .extend({ ip: auditRow.shape.ip.nullable(), requestId: auditRow.shape.requestId.nullable() }),
);

/** Established connections, newest first. */
export const exportConnections = section('connections.export-established', 'connection', connection);

/** The user's requests that wait for an answer, newest first. */
export const exportSentRequests = section('connections.export-sent', 'connection', connectionRequest);

/** Requests that wait for the user's answer, newest first. */
export const exportReceivedRequests = section('connections.export-received', 'connection', connectionRequest);

/** Declined requests, ordered by the id of the other user. */
export const exportDeclinedRequests = section('connections.export-declined', 'connection', declinedRequest);

/** Blocks that the user has made, newest first. */
export const exportBlocks = section('connections.export-blocks', 'connection', standingBlock);

/**
 * The user's settings, which say who may send the user a connection request, and whether others see the user's connections.
 * Empty if the user has never changed these settings.
 */
export const exportConnectionSettings = section(
  'connections.export-settings',
  'connection',
  connectionSettings,
);

/** All collections as a flat list, in no particular order. `parentId` gives the tree. */
export const exportCollections = section('collections.export-collections', 'collection', collection);

/** The saved entities of all collections. An entity that is saved in several collections is listed once for each collection. */
export const exportEntities = section('collections.export-entities', 'collection', exportedEntity);

/** Notifications that are still stored, newest first. */
export const exportNotifications = section(
  'notifications.export-notifications',
  'app-notification',
  appNotification,
);

/** The types of notifications that the user has turned off; empty if there are none. */
export const exportNotificationSettings = section(
  'notifications.export-settings',
  'app-notification',
  notificationSettings,
);

/** Files and images, newest first, with the addresses of their bytes. */
export const exportFiles = section('storage.export-files', 'storage', z.union([storedImage, storedFile]));

const head = z.object({ exportedAt: timestamp, user: ownUser, ...factorList.shape });
const sections = {
  sessions: exportSessions,
  mails: exportMails,
  audit: exportAudit,
  connections: exportConnections,
  sentRequests: exportSentRequests,
  receivedRequests: exportReceivedRequests,
  declinedRequests: exportDeclinedRequests,
  blocks: exportBlocks,
  connectionSettings: exportConnectionSettings,
  collections: exportCollections,
  savedEntities: exportEntities,
  notifications: exportNotifications,
  notificationSettings: exportNotificationSettings,
  files: exportFiles,
} as const;

/**
 * All data about the caller in all services, as one JSON document that can be saved as a file (spec#users-export). The gateway
 * sends the document while it reads the data. If the connection ends before the document is complete, the export has failed
 * (docs/adr/0012).
 */
export const exportUser = operation({
  name: 'identity.export-user',
  audit: 'always',
  summary: 'Export all data that is stored about the caller',
  feature: 'user',
  kind: 'export',
  scope: 'project',
  method: 'GET',
  path: '/users/:userId/export',
  auth: 'user',
  limit: perFiveMinutes(5),
  params: z.object({ userId: uuid }),
  query: nothing,
  body: nothing,
  output: head.extend(listsOf(sections)),
  parts: { head, sections },
  status: 200,
  errors: [
    'user/not-found',
    'auth/forbidden',
    'auth/step-up-required',
    'auth/unauthorized',
    'auth/server-error',
    'connection/server-error',
    'collection/server-error',
    'app-notification/server-error',
    'storage/server-error',
  ],
  invalid: { params: 'user/not-found' },
});

type Sections = Readonly<Record<string, ExportSection>>;

function listsOf<S extends Sections>(of: S) {
  const lists = Object.entries(of).map(([name, { output }]) => [name, output.shape.items]);
  return Object.fromEntries(lists) as { [Name in keyof S]: S[Name]['output']['shape']['items'] };
}

export const exportOperations = [exportUser] as const;
