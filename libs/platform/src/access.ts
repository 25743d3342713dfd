// Reaching a platform that runs, for who needs no more of this package: without the services.
export { dataFolderConfig } from './data-folder-config.ts';
export { type Call, CallError, caller } from './demo/api.ts';
