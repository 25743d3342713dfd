import { connectionBlocked, connectionUnblocked, eventOrder } from '@kith/contracts';
import { type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from './app.ts';

/**
 * Keeps identity's own copy of who blocks whom (ARCHITECTURE, decision 4). The copy keeps the state with the highest `seq`. So
 * events may come in any order and more than once.
 */
export const blockEvents: EventSubscription<AppContext> = subscription({
  durable: 'identity-blocks',
  events: [connectionBlocked, connectionUnblocked],
  apply: ({ type, projectId, aggregate, data }, app: AppContext) =>
    app.store.blocks.keep({
      projectId,
      blockerId: data.blockerId,
      blockedId: data.blockedId,
      isBlocked: type === connectionBlocked.type,
      seq: eventOrder(aggregate),
    }),
});
