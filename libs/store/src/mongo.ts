// What reads the databases of the distributed form at once, for backups. Loads the driver of MongoDB.
export { type CopyOptions, ServiceCopy } from './backup/service-copy.ts';
