export { type ConnectionsOptions, startConnections } from './service.ts';
export { connectionsMove } from './store/move.ts';
