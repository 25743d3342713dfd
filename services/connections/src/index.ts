export { connectionsBackup } from './backup.ts';
export { connectionsMove } from './move.ts';
export { type ConnectionsOptions, startConnections } from './service.ts';
