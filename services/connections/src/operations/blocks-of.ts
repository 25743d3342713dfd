import { blocksOf } from '@kith/contracts';
import { internalHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { hiddenFrom } from '../blocks.ts';

/** Answers whom a user blocks or is blocked by, for other services; it costs a read of these alone. */
export const blocksOfHandler = internalHandler(blocksOf, async (of, app: AppContext) => ({
  userIds: [...(await hiddenFrom(app, of))],
}));
