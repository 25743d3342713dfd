import type { OperationHandler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { acceptHandler } from './accept.ts';
import { blockHandler } from './block.ts';
import { countHandler } from './count.ts';
import { countOfUserHandler } from './count-of-user.ts';
import { declineHandler } from './decline.ts';
import { deleteHandler } from './delete.ts';
import { deleteWithUserHandler } from './delete-with-user.ts';
import { getStatusHandler } from './get-status.ts';
import { importHandler } from './import.ts';
import { listHandler } from './list.ts';
import { listBlocksHandler } from './list-blocks.ts';
import { listOfUserHandler } from './list-of-user.ts';
import { listReceivedHandler } from './list-received.ts';
import { listSentHandler } from './list-sent.ts';
import { rebuildProfilesHandler } from './rebuild-profiles.ts';
import { requestHandler } from './request.ts';
import { unblockHandler } from './unblock.ts';

/** Every operation of the service, in the order of spec#connections and spec#blocks, then operators' ones. */
export const operations: readonly OperationHandler<AppContext>[] = [
  requestHandler,
  getStatusHandler,
  deleteWithUserHandler,
  listOfUserHandler,
  countOfUserHandler,
  listHandler,
  countHandler,
  listSentHandler,
  listReceivedHandler,
  acceptHandler,
  declineHandler,
  deleteHandler,
  blockHandler,
  unblockHandler,
  listBlocksHandler,
  rebuildProfilesHandler,
  importHandler,
];
