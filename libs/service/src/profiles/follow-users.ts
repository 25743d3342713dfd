import { eventOrder, userCreated, usersPage, userUpdated } from '@kith/contracts';
import { type EventSubscription, subscription } from '../events/subscribe.ts';
import { ask } from '../operations/ask.ts';
import { walkStep } from '../operations/project-walk.ts';
import type { ProfileParts } from './profiles.ts';

/**
 * Keeps the service's copy of public users up to date. It compares `seq`, so events may come in any order, and more than once.
 */
export function profileEvents(durable: string): EventSubscription<ProfileParts> {
  return subscription({
    durable,
    events: [userCreated, userUpdated],
    // Profiles that are stored at the same time go to the database in one write. Therefore, it is faster to apply many events
    // at the same time.
    atOnce: 32,
    apply: ({ aggregate, data }, { store }: ProfileParts) =>
      store.profiles.keep({ seq: eventOrder(aggregate), user: data }),
  });
}

/**
 * Copies a page of identity's users, of all projects or of one project. The page begins after a position. If the copy has a
 * newer profile, that profile stays. Throws `auth/forbidden` for an operator's key that is limited to other projects.
 */
export async function rebuildProfiles(
  { bus, store }: ProfileParts,
  request: Parameters<typeof walkStep>[0] & { requestId: string; deadline: number },
): Promise<{ copied: number; next: string | null }> {
  const step = walkStep(request);
  const page = await ask(bus, usersPage, { after: step.after }, request);
  const users = page.users.filter(({ user }) => step.includes(user));
  await store.profiles.keepAll(users);
  return { copied: users.length, next: step.next(page.next) };
}
