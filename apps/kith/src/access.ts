// This entry of the package does not load the services. Programs that only send requests to a running platform import this
// entry.

export { type Call, CallError, caller } from './demo/api.ts';
export { dataFolderConfig } from './forms/data-folder-config.ts';
export { type Announcement, type Running, runningIn } from './forms/running.ts';
