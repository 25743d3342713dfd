import { z } from 'zod';
import type { Feature } from '../errors.ts';
import { type ExportSection, internalOperation, operation } from '../operation.ts';
import { shownText, timestamp, uuid } from '../scalars.ts';
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

/** Most items of a page. A page is also at most about `exportPageBytes`, of which one item may be more. */
export const exportPageItems = 200;
/** Far below what the bus carries in a message, and what a gateway holds of an export. */
export const exportPageBytes = 256 * 1024;

/** Whose data, where the last page ended (null is the first), and how many items at most. */
const range = z.object({
  projectId: uuid,
  userId: uuid,
  after: z.string().max(300).nullable(),
  limit: z.int().min(1).max(exportPageItems),
});

/** Declares a list of what a service holds of a user. What comes or goes meanwhile may be in it or not. */
function section<const Name extends `${string}.export-${string}`, Item extends z.ZodType>(
  name: Name,
  feature: Feature,
  item: Item,
) {
  const output = z.object({ items: z.array(item), next: z.string().nullable() });
  return internalOperation({ name, feature, body: range, output, errors: [] });
}

/** A request that was declined: the user's own, or one the user has declined. */
const declinedRequest = connectionRequest.extend({ respondedAt: timestamp });

/** A saved entity by its collection; `id` is the entity's. */
const exportedEntity = savedEntity.omit({ isSaved: true }).extend({ collectionId: uuid });

/** The user's sessions that are not over, newest first, without anything that opens one. */
export const exportSessions = section(
  'identity.export-sessions',
  'auth',
  sessionInfo.omit({ current: true }).extend({ expiresAt: timestamp }),
);

/** Mails that were asked for, each with the address it goes to, while its token holds; without anything that opens one. */
export const exportMails = section(
  'identity.export-mails',
  'auth',
  z.object({ kind: z.enum(mailKinds), address: shownText(254), until: timestamp }),
);

/** Established connections, newest first. */
export const exportConnections = section('connections.export-established', 'connection', connection);

/** Requests that wait for an answer, newest first. */
export const exportSentRequests = section('connections.export-sent', 'connection', connectionRequest);

/** Requests that wait for the user's answer, newest first. */
export const exportReceivedRequests = section('connections.export-received', 'connection', connectionRequest);

/** Declined requests, by the id of the other user. */
export const exportDeclinedRequests = section('connections.export-declined', 'connection', declinedRequest);

/** Blocks that the user has made, newest first. */
export const exportBlocks = section('connections.export-blocks', 'connection', standingBlock);

/** What the user has decided about requests and the own list; nothing where it is as it was. */
export const exportConnectionSettings = section(
  'connections.export-settings',
  'connection',
  connectionSettings,
);

/** All collections, flat: `parentId` makes the tree of them. In no order. */
export const exportCollections = section('collections.export-collections', 'collection', collection);

/** What is saved in all collections; what is saved in several is there as often. */
export const exportEntities = section('collections.export-entities', 'collection', exportedEntity);

/** Notifications that are kept, newest first. */
export const exportNotifications = section(
  'notifications.export-notifications',
  'app-notification',
  appNotification,
);

/** Which notifications the user has turned off; nothing where none. */
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
 * All that the services hold of the caller, as one JSON document to be saved as a file (spec#users-export). It is sent as it
 * is read: a connection that ends before the document does means that it failed (docs/adr/0012).
 */
export const exportUser = operation({
  name: 'identity.export-user',
  summary: 'Export all that is held of the caller',
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
