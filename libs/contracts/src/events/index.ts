import { z } from 'zod';
import { auditRow } from '../operations/audit.ts';
import { collection, savedEntity } from '../operations/collections.ts';
import { appNotification } from '../operations/notifications.ts';
import { publicUser } from '../operations/users.ts';
import { timestamp, uuid } from '../scalars.ts';
import { event } from './envelope.ts';

export {
  type EventEnvelope,
  type EventOf,
  type EventSpec,
  eventFilter,
  eventOrder,
  eventSchema,
  eventSubject,
} from './envelope.ts';

/** `data` is the whole public profile. A service that stores a copy of profiles needs no other data. */
export const userCreated = event({ type: 'user.created', version: 1, data: publicUser });
export const userUpdated = event({ type: 'user.updated', version: 1, data: publicUser });
/** The last event of a user. Services that receive this event erase their data about the user. */
export const userDeleted = event({ type: 'user.deleted', version: 1, data: z.object({ id: uuid }) });
export const userSuspended = event({ type: 'user.suspended', version: 1, data: publicUser });

/** Published when a session ends. The aggregate is the session, which has no other events. */
export const sessionRevoked = event({
  type: 'session.revoked',
  version: 1,
  data: z.object({
    sessionId: uuid,
    userId: uuid,
    reason: z.enum(['signed-out', 'ended', 'password-changed', 'token-reused', 'suspended', 'deleted']),
  }),
});

const connectionData = z.object({ connectionId: uuid, requesterId: uuid, receiverId: uuid });
export const connectionRequested = event({
  type: 'connection.requested',
  version: 1,
  data: connectionData.extend({ message: z.string().nullable() }),
});
export const connectionAccepted = event({ type: 'connection.accepted', version: 1, data: connectionData });
export const connectionDeclined = event({ type: 'connection.declined', version: 1, data: connectionData });
export const connectionWithdrawn = event({ type: 'connection.withdrawn', version: 1, data: connectionData });
export const connectionDisconnected = event({
  type: 'connection.disconnected',
  version: 1,
  data: connectionData,
});

/** `connectionId` is the id of the connection or request that the block ends. It is null if there was neither. */
const blockData = z.object({ blockerId: uuid, blockedId: uuid, connectionId: uuid.nullable() });
export const connectionBlocked = event({ type: 'connection.blocked', version: 1, data: blockData });
export const connectionUnblocked = event({ type: 'connection.unblocked', version: 1, data: blockData });

export const collectionCreated = event({ type: 'collection.created', version: 1, data: collection });
export const collectionRenamed = event({ type: 'collection.renamed', version: 1, data: collection });
/**
 * `data` is the last state of the collection. All collections below it are deleted too, but without events of their own. An
 * earlier event of such a collection may arrive after this event. Such an event does not mean that the collection still exists.
 */
export const collectionDeleted = event({ type: 'collection.deleted', version: 1, data: collection });

/**
 * `entityCount` is the number of entities in the collection after this change. Adding an entity that is already in the
 * collection makes no event.
 */
const entityData = z.object({
  collectionId: uuid,
  userId: uuid,
  entityId: z.string(),
  entityCount: z.int(),
});
export const collectionEntityAdded = event({
  type: 'collection.entity-added',
  version: 1,
  data: entityData.extend({ addedAt: timestamp, metadata: savedEntity.shape.metadata }),
});
export const collectionEntityRemoved = event({
  type: 'collection.entity-removed',
  version: 1,
  data: entityData,
});

/** The aggregate is the user's feed: `seq` is the feed sequence. */
export const notificationCreated = event({ type: 'notification.created', version: 1, data: appNotification });

/** A file of a user. The aggregate is the set of all files of the user. */
const fileData = z.object({ fileId: uuid, userId: uuid, kind: z.enum(['file', 'image']), bytes: z.int() });
export const fileCreated = event({ type: 'file.created', version: 1, data: fileData });
export const fileDeleted = event({ type: 'file.deleted', version: 1, data: fileData });

/**
 * A row of the audit log. The row is its own aggregate. The id of the aggregate begins with the id of the user whom the row is
 * about. Rows that concern no project are published under `noProject` (spec#audit-events).
 */
export const auditRecorded = event({ type: 'audit.recorded', version: 1, data: auditRow });
/** The project id for rows that concern no project. */
export const noProject = '00000000-0000-0000-0000-000000000000';

/** Every event type of the platform (spec#events-types). */
export const events = [
  userCreated,
  userUpdated,
  userDeleted,
  userSuspended,
  sessionRevoked,
  connectionRequested,
  connectionAccepted,
  connectionDeclined,
  connectionWithdrawn,
  connectionDisconnected,
  connectionBlocked,
  connectionUnblocked,
  collectionCreated,
  collectionRenamed,
  collectionDeleted,
  collectionEntityAdded,
  collectionEntityRemoved,
  notificationCreated,
  fileCreated,
  fileDeleted,
  auditRecorded,
] as const;

type FeatureOf<Type extends string> = Type extends `${infer Feature}.${string}` ? Feature : never;

/**
 * The first part of an event's type. One service publishes all events of a feature. But every service may publish the events of
 * the audit log.
 */
export type EventFeature = FeatureOf<(typeof events)[number]['type']>;

/** The feature of an event. */
export function featureOf({ type }: { type: string }): string {
  return type.slice(0, type.indexOf('.'));
}
