import type { Bus } from '@kith/bus';
import { type EventOf, knownUsers, type userDeleted } from '@kith/contracts';
import { ask } from '../operations/ask.ts';

/**
 * If an event is younger than this, in ms, no import can have reused the id of the event's user. The identity service reserves
 * the id for nine days.
 */
const keptMs = 8 * 24 * 3600 * 1000;
const askMs = 4_000;

/**
 * Whether the user of a `user.deleted` event exists again. Dead letters are kept for 90 days, so such an event may be replayed
 * after an import has reused the id. In that case, the event must not erase the data of the new user (docs/adr/0018). Asks
 * identity only if the event is old. Throws if identity does not answer.
 */
export async function hasComeBack(
  bus: Bus,
  { id: requestId, projectId, occurredAt, data }: EventOf<typeof userDeleted>,
): Promise<boolean> {
  if (Date.now() - Date.parse(occurredAt) < keptMs) return false;
  const known = await ask(
    bus,
    knownUsers,
    { projectId, ids: [data.id], foreignIds: [] },
    { requestId, deadline: Date.now() + askMs },
  );
  return known.ids.length > 0;
}
