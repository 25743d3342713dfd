import {
  type AppNotification,
  type EventEnvelope,
  type KithNotification,
  kithNotificationTypes,
} from '@kith/contracts';

type Metadata = KithNotification['metadata'];

/**
 * Whether this is a notification of Kith itself. Only such a notification has an initiator. In an application's notification, a
 * field `initiatorId` means nothing, because the application can put anything into the `metadata`.
 */
export function isKiths<T extends { type: string; metadata: unknown }>(
  of: T,
): of is T & Pick<KithNotification, 'type' | 'metadata'> {
  return (kithNotificationTypes as readonly string[]).includes(of.type);
}

/** Whether this is a notification of Kith itself that names a user as its initiator. */
export function isInitiatedBy<T extends { type: string; metadata: unknown }>(
  of: T,
  userId: string,
): of is T & Pick<KithNotification, 'type' | 'metadata'> {
  return isKiths(of) && of.metadata.initiatorId === userId;
}

/**
 * The nil UUID (RFC 9562 section 5.9). It replaces the id of an initiator whose account has ended. The contract requires a
 * UUID, but the user's own id must be removed, because it is data about this user (spec#users-erasure).
 */
export const nobody = '00000000-0000-0000-0000-000000000000';

/** What replaces the data of an initiator whose account has ended. */
export const blankSnapshot = {
  initiatorId: nobody,
  initiatorName: null,
  initiatorUsername: null,
  initiatorAvatar: null,
} as const;

/** What is left of a notification's metadata when its initiator's account has ended. */
export function blanked({ connectionId }: Metadata): Metadata {
  return { connectionId, ...blankSnapshot };
}

/**
 * Returns a `notification.created` event without the data of its initiator. Returns null if the event does not name the given
 * user as its initiator.
 */
export function blankedEvent(event: EventEnvelope, userId: string): EventEnvelope | null {
  const notification = event.data as AppNotification;
  if (!isInitiatedBy(notification, userId)) return null;
  return { ...event, actorId: null, data: { ...notification, metadata: blanked(notification.metadata) } };
}
