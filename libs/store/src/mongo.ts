// Access to the databases of the distributed form, for backups and moves. This entry loads the driver of MongoDB.
export { type CopyOptions, ServiceCopy } from './backup/service-copy.ts';
export { surely } from './drivers/mongo-settings.ts';
