import { eventOrder, standingBlocks } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

/** Tells identity which of the blocks in identity's copy still exist. */
export const standingBlocksHandler = internalHandler(standingBlocks, async ({ blocks }, app: AppContext) => {
  const pairs = await app.store.pairsOf(
    blocks.map(({ projectId, blockerId, blockedId }) => ({ projectId, one: blockerId, other: blockedId })),
  );
  const epoch = (await app.store.outbox.fact('epoch'))?.number;
  return {
    blocks: pairs.map((pair, at) => {
      const block = blocks[at] as (typeof blocks)[number];
      const isBlocked = pair.blocks.some(({ blockerId }) => blockerId === block.blockerId);
      return { ...block, isBlocked, seq: eventOrder({ seq: pair.seq, epoch }) };
    }),
  };
});
