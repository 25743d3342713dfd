// This entry is for callers that only talk to a running platform. It does not load the services.

export { type Call, CallError, caller } from './demo/api.ts';
export { dataFolderConfig } from './forms/data-folder-config.ts';
export { type Announcement, type Running, runningIn } from './forms/running.ts';
