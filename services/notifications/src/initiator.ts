import {
  type AppNotification,
  type EventEnvelope,
  type KithNotification,
  kithNotificationTypes,
} from '@kith/contracts';

type Metadata = KithNotification['metadata'];

/** What Kith itself tells of: it has an initiator. An application's `metadata` says what the application likes. */
export function isKiths<T extends { type: string; metadata: unknown }>(
  of: T,
): of is T & Pick<KithNotification, 'type' | 'metadata'> {
  return (kithNotificationTypes as readonly string[]).includes(of.type);
}

/**
 * Who stands in place of an initiator whose account has ended: the nil UUID (RFC 9562 section 5.9). The contract asks
 * for a UUID, and the user's own would be something left of it (spec#users-erasure).
 */
export const nobody = '00000000-0000-0000-0000-000000000000';

/** A snapshot that says nothing of anybody. */
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

/** A `notification.created` that says nothing of its initiator any more. */
export function blankedEvent(event: EventEnvelope): EventEnvelope {
  const notification = event.data as AppNotification;
  if (!isKiths(notification)) return event;
  return { ...event, actorId: null, data: { ...notification, metadata: blanked(notification.metadata) } };
}
