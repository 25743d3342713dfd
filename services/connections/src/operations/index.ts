// Every operation of the service, by its short name.
export { acceptHandler as accept } from './accept.ts';
export { blockHandler as block } from './block.ts';
export { countHandler as count } from './count.ts';
export { countOfUserHandler as 'count-of-user' } from './count-of-user.ts';
export { declineHandler as decline } from './decline.ts';
export { deleteHandler as delete } from './delete.ts';
export { deleteWithUserHandler as 'delete-with-user' } from './delete-with-user.ts';
export { getStatusHandler as 'get-status' } from './get-status.ts';
export { importHandler as import } from './import.ts';
export { listHandler as list } from './list.ts';
export { listBlocksHandler as 'list-blocks' } from './list-blocks.ts';
export { listOfUserHandler as 'list-of-user' } from './list-of-user.ts';
export { listReceivedHandler as 'list-received' } from './list-received.ts';
export { listSentHandler as 'list-sent' } from './list-sent.ts';
export { rebuildProfilesHandler as 'rebuild-profiles' } from './rebuild-profiles.ts';
export { requestHandler as request } from './request.ts';
export { unblockHandler as unblock } from './unblock.ts';
