import { join } from 'node:path';
import { createLogger } from '@kith/base';
import { InProcessBus } from '@kith/bus/in-process';
import { eventSubject, userDeleted } from '@kith/contracts';
import { makeEvent } from '@kith/service';
import type { TestUser } from '@kith/testing';

/**
 * Adds an event to the log of a stopped installation. The event says that the user was deleted. No service has received the
 * event yet.
 */
export async function addUnreadDeletion(data: string, { id, projectId }: TestUser): Promise<void> {
  const prefix = 'kith';
  const log = createLogger({ name: 'test', level: 'silent' });
  const bus = new InProcessBus({ prefix, file: join(data, 'events.sqlite'), log });
  const event = makeEvent(userDeleted, {
    ...{ projectId, actorId: null, aggregate: { type: 'user', id, seq: 1 }, data: { id } },
    occurredAt: new Date(),
  });
  const body = new TextEncoder().encode(JSON.stringify(event));
  await bus.publish({ subject: eventSubject(prefix, event), id: event.id, body });
  await bus.close();
}
