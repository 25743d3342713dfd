import type { EventEnvelope } from '@kith/contracts';
import { type Collection, collection, type DocumentChange } from '@kith/store';
import type { Declared } from '@kith/store/open';
import { z } from 'zod';

/**
 * Each event of the benchmark announces a change of one of these documents. The documents are as small as a service can store.
 */
const users: Collection<object> = collection<object>({
  name: 'users',
  kind: 'target',
  version: 1,
  schema: z.object({}),
});

export const declared: Declared = { collections: [users] };

/** The change that an event announces. */
export function changeOf(event: EventEnvelope): DocumentChange<object> {
  return { in: users, target: event.id, set: {}, events: [event] };
}
