// Programs that only send requests to a running platform import this entry of the package, because it does not load the
// services.

export { type Call, CallError, caller } from './demo/api.ts';
export { dataFolderConfig } from './forms/data-folder-config.ts';
export { type Announcement, type Running, runningIn } from './forms/running.ts';
