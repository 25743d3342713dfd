import type { Bus } from '@kith/bus';
import {
  type EventEnvelope,
  eventFilter,
  sessionRevoked,
  userCreated,
  userDeleted,
  userUpdated,
} from '@kith/contracts';

/** Collects the users' events of a bus, like a service that keeps copies. */
export async function collectEvents(bus: Bus, durable = 'test-users'): Promise<EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  const subjects = [userCreated, userUpdated, userDeleted].map((spec) => eventFilter(bus.prefix, spec));
  await bus.consume({ durable, subjects }, async ({ body }) => {
    events.push(JSON.parse(new TextDecoder().decode(body)));
  });
  return events;
}

/** Collects the `session.revoked` events of a bus. */
export async function collectRevoked(bus: Bus): Promise<unknown[]> {
  const revoked: unknown[] = [];
  const subjects = [eventFilter(bus.prefix, sessionRevoked)];
  await bus.consume({ durable: 'test-revoked', subjects }, async ({ body }) => {
    revoked.push(JSON.parse(new TextDecoder().decode(body)).data);
  });
  return revoked;
}
