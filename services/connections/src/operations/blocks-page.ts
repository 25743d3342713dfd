import { blocksPage, eventOrder } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';

const pageSize = 200;

/** Returns a page of all current blocks. Identity asks for these pages to rebuild its copy of the blocks. */
export const blocksPageHandler = internalHandler(blocksPage, async ({ after }, app: AppContext) => {
  const pairs = await app.store.blocked(after ?? '', pageSize);
  const last = pairs.length === pageSize ? pairs.at(-1) : undefined;
  const epoch = (await app.store.outbox.fact('epoch'))?.number;
  return {
    blocks: pairs.flatMap(({ projectId, lower, higher, seq, blocks }) =>
      blocks.map(({ blockerId }) => ({
        projectId,
        blockerId,
        blockedId: blockerId === lower ? higher : lower,
        seq: eventOrder({ seq, epoch }),
      })),
    ),
    next: last ? `${last.projectId}|${last.lower}|${last.higher}` : null,
  };
});
