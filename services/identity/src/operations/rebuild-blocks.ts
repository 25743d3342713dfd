import { blocksPage, rebuildIdentityBlocks } from '@kith/contracts';
import { ask, handler, walkStep } from '@kith/service';
import type { AppContext } from '../app.ts';
import { keepBlocks } from '../blocks.ts';

/**
 * Copies a page of the blocks that the connections service owns. If identity's own copy has a newer entry, the newer entry
 * stays. Blocks of users who are not there are not kept.
 */
export const rebuildBlocksHandler = handler(rebuildIdentityBlocks, async (request, app: AppContext) => {
  const step = walkStep(request);
  const page = await ask(app.bus, blocksPage, { after: step.after }, request);
  const blocks = page.blocks.filter((block) => step.includes(block));
  await keepBlocks(
    app,
    blocks.map((block) => ({ ...block, isBlocked: true })),
  );
  return { copied: blocks.length, next: step.next(page.next) };
});
