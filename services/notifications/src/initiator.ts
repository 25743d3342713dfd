import type { AppNotification, EventEnvelope } from '@kith/contracts';

type Metadata = AppNotification['metadata'];

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
  return { ...event, actorId: null, data: { ...notification, metadata: blanked(notification.metadata) } };
}
