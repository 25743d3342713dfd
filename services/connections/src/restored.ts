import { derivedId } from '@kith/base';
import { connectionBlocked, connectionUnblocked } from '@kith/contracts';
import { type EventSubscription, makeEvent, subscription } from '@kith/service';
import { eventOfPair } from './act.ts';
import type { AppContext } from './app.ts';

/**
 * Handles block events that were published before the database was restored from a backup. The restore may have changed whether
 * the block exists. So this handler publishes an event that says whether the block exists now (docs/adr/0028). In normal
 * operation, it does nothing.
 */
export const blocksBeforeRestore: EventSubscription<AppContext> = subscription({
  durable: 'connections-blocks',
  events: [connectionBlocked, connectionUnblocked],
  async apply({ projectId, aggregate, data }, app: AppContext) {
    if ((aggregate.epoch ?? 0) >= app.epoch) return;
    const { blockerId, blockedId } = data;
    const pair = await app.store.pairOf(projectId, blockerId, blockedId);
    const stands = pair.blocks.some((block) => block.blockerId === blockerId);
    const event = makeEvent(stands ? connectionBlocked : connectionUnblocked, {
      ...eventOfPair(pair),
      actorId: null,
      data: { blockerId, blockedId, connectionId: null },
      occurredAt: new Date(),
    });
    const id = derivedId('restated', `${app.epoch}`, projectId, blockerId, blockedId, `${pair.seq}`);
    await app.store.outbox.restate([{ ...event, id }]);
    app.relay.kick();
  },
});
