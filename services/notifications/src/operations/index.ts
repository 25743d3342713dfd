// Every operation of the service, by its name without `notifications.`.

export { countHandler as count } from './count.ts';
export { createHandler as create } from './create.ts';
export { getSettingsHandler as 'get-settings' } from './get-settings.ts';
export { listHandler as list } from './list.ts';
export { markAllAsReadHandler as 'mark-all-as-read' } from './mark-all-as-read.ts';
export { markAsReadHandler as 'mark-as-read' } from './mark-as-read.ts';
export { rebuildProfilesHandler as 'rebuild-profiles' } from './rebuild-profiles.ts';
export { updateSettingsHandler as 'update-settings' } from './update-settings.ts';
