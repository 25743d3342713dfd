// Reaching a platform that runs, for who needs no more of this package: without the services.

export { type Call, CallError, caller } from './demo/api.ts';
export { dataFolderConfig } from './forms/data-folder-config.ts';
export { type Announcement, type Running, runningIn } from './forms/running.ts';
