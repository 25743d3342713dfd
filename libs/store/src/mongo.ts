// Reads the databases of the distributed form directly, for backups. This entry loads the driver of MongoDB.
export { type CopyOptions, ServiceCopy } from './backup/service-copy.ts';
