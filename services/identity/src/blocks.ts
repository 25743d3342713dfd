import { connectionBlocked, connectionUnblocked, eventOrder } from '@kith/contracts';
import { type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from './app.ts';

/**
 * Keeps identity's own copy of who blocks whom (ARCHITECTURE, decision 4). The copy goes by `seq`, so order and repeats of
 * events do not matter.
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
