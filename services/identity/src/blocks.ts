import { connectionBlocked, connectionUnblocked, eventOrder } from '@kith/contracts';
import { type EventSubscription, subscription } from '@kith/service';
import type { AppContext } from './app.ts';
import type { Block } from './store/index.ts';

/**
 * Keeps identity's own copy of who blocks whom (ARCHITECTURE, decision 4). The copy keeps the state with the highest `seq`. So
 * events may come in any order and more than once.
 */
export const blockEvents: EventSubscription<AppContext> = subscription({
  durable: 'identity-blocks',
  events: [connectionBlocked, connectionUnblocked],
  apply: ({ type, projectId, aggregate, data }, app: AppContext) =>
    keepBlocks(app, [
      {
        projectId,
        blockerId: data.blockerId,
        blockedId: data.blockedId,
        isBlocked: type === connectionBlocked.type,
        seq: eventOrder(aggregate),
      },
    ]),
});

/**
 * Stores blocks in the copy. Keeps no block of a user who does not exist, because the connections service may still report
 * blocks of a user whom identity has already erased (spec#users-erasure).
 */
export async function keepBlocks(app: AppContext, blocks: readonly Block[]): Promise<void> {
  await app.store.blocks.keep(...blocks);
  // Looks for the users only after the blocks are stored. So if a user is deleted at the same time, either the user is not
  // found here, and the blocks are removed here, or the user's erasure finds the blocks.
  for (const [projectId, own] of Map.groupBy(blocks, (block) => block.projectId)) {
    const missing = new Set(own.flatMap(({ blockerId, blockedId }) => [blockerId, blockedId]));
    for (const { id } of await app.store.users.findMany(projectId, [...missing])) missing.delete(id);
    for (const userId of missing) await app.store.blocks.forget(projectId, userId);
  }
}
