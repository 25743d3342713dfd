import { type EventEnvelope, eventFilter, userCreated, userDeleted, userUpdated } from '@kith/contracts';
import type { Bus } from '@kith/service';

/** Collects the users' events of a bus, as a service does that keeps copies. */
export async function collectEvents(bus: Bus, durable = 'test-users'): Promise<EventEnvelope[]> {
  const events: EventEnvelope[] = [];
  const subjects = [userCreated, userUpdated, userDeleted].map((spec) => eventFilter(bus.prefix, spec));
  await bus.consume({ durable, subjects }, async ({ body }) => {
    events.push(JSON.parse(new TextDecoder().decode(body)));
  });
  return events;
}
