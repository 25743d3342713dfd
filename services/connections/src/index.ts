export { connectionsBackup } from './backup.ts';
export { type ConnectionsOptions, manifest, startConnections } from './service.ts';
