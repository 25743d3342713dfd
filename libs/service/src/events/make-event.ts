import { randomUUID } from 'node:crypto';
import type { EventEnvelope, EventOf, EventSpec } from '@kith/contracts';

/** Makes an event of a type from the contracts. The event is stored together with the change that it announces. */
export function makeEvent<E extends EventSpec>(
  spec: E,
  of: {
    projectId: string;
    actorId: string | null;
    aggregate: EventEnvelope['aggregate'];
    data: EventOf<E>['data'];
    occurredAt: Date;
  },
): EventOf<E> {
  return {
    id: randomUUID(),
    type: spec.type,
    version: spec.version,
    projectId: of.projectId,
    occurredAt: of.occurredAt.toISOString(),
    actorId: of.actorId,
    aggregate: of.aggregate,
    data: of.data,
  };
}
