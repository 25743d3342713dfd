import { eventOrder, userCreated, usersPage, userUpdated } from '@kith/contracts';
import { type EventSubscription, subscription } from '../events/subscribe.ts';
import { ask } from '../operations/ask.ts';
import type { ProfileParts } from './profiles.ts';

/**
 * Keeps the service's copy of public users up to date. It goes by `seq`, so events may come in any order, and more than once.
 */
export function profileEvents(durable: string): EventSubscription<ProfileParts> {
  return subscription({
    durable,
    events: [userCreated, userUpdated],
    // If several profiles are stored at the same time, they go to the database in one write.
    atOnce: 32,
    apply: ({ aggregate, data }, { store }: ProfileParts) =>
      store.profiles.keep({ seq: eventOrder(aggregate), user: data }),
  });
}

/** Copies the page of identity's users that follows a position. If the copy has a newer profile, that profile stays. */
export async function rebuildProfiles(
  { bus, store }: ProfileParts,
  request: { body: { after: string | null }; requestId: string; deadline: number },
): Promise<{ copied: number; next: string | null }> {
  const { users, next } = await ask(bus, usersPage, { after: request.body.after }, request);
  await store.profiles.keepAll(users);
  return { copied: users.length, next };
}
