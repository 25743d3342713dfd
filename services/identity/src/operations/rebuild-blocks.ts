import { blocksPage, rebuildIdentityBlocks } from '@kith/contracts';
import { ask, handler, walkStep } from '@kith/service';
import type { AppContext } from '../app.ts';

/**
 * Copies a page of the blocks that the connections service owns. If identity's own copy has a newer entry, the newer entry
 * stays.
 */
export const rebuildBlocksHandler = handler(rebuildIdentityBlocks, async (request, app: AppContext) => {
  const step = walkStep(request);
  const page = await ask(app.bus, blocksPage, { after: step.after }, request);
  const blocks = page.blocks.filter((block) => step.includes(block));
  await app.store.blocks.keep(...blocks.map((block) => ({ ...block, isBlocked: true })));
  return { copied: blocks.length, next: step.next(page.next) };
});
