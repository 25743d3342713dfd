import { blocksPage, rebuildIdentityBlocks, standingBlocks } from '@kith/contracts';
import { ask, handler, walkStep } from '@kith/service';
import type { AppContext } from '../app.ts';
import { keepBlocks } from '../blocks.ts';

const pageSize = 200;
/**
 * A position (`after`, `next`) that begins with this text is a position in identity's own copy. Any other position is a
 * position in the blocks of the connections service.
 */
const inCopy = 'copy|';

type Request = Parameters<typeof walkStep>[0] & { requestId: string; deadline: number };
type Page = { copied: number; next: string | null };

/**
 * Copies a page of the blocks that the connections service owns. After the last page, walks through identity's own copy, and
 * removes blocks that the connections service no longer has. If identity's own copy has a newer entry of a block, the newer
 * entry stays. Blocks of users who do not exist are not copied.
 */
export const rebuildBlocksHandler = handler(rebuildIdentityBlocks, async (request, app: AppContext) => {
  const { after } = request.body;
  const isInCopy = after?.startsWith(inCopy);
  const page = isInCopy ? { copied: 0, next: null } : await copyPage(request, app);
  if (page.next !== null) return page;
  const from = isInCopy ? (after?.slice(inCopy.length) ?? null) : null;
  const ended = await endPage({ ...request, body: { ...request.body, after: from } }, app);
  return {
    copied: page.copied + ended.copied,
    next: ended.next === null ? null : `${inCopy}${ended.next}`,
  };
});

async function copyPage(request: Request, app: AppContext): Promise<Page> {
  const step = walkStep(request);
  const page = await ask(app.bus, blocksPage, { after: step.after }, request);
  const blocks = page.blocks.filter((block) => step.includes(block));
  await keepBlocks(
    app,
    blocks.map((block) => ({ ...block, isBlocked: true })),
  );
  return { copied: blocks.length, next: step.next(page.next) };
}

/**
 * Reads a page of identity's own copy, asks the connections service about the blocks on this page, and ends the blocks that no
 * longer exist. If a user blocks the other user again meanwhile, the event of the new block is newer than the answer. So this
 * block stays.
 */
async function endPage(request: Request, app: AppContext): Promise<Page> {
  const step = walkStep(request);
  const page = await app.store.blocks.page(step.after ?? '', pageSize);
  const blocks = page.blocks.filter((block) => step.includes(block));
  if (blocks.length === 0) return { copied: 0, next: step.next(page.next) };
  const standing = await ask(app.bus, standingBlocks, { blocks }, request);
  const ended = standing.blocks.filter(({ isBlocked }) => !isBlocked);
  await keepBlocks(app, ended);
  return { copied: ended.length, next: step.next(page.next) };
}
