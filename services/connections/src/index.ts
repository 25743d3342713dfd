export { type ConnectionsOptions, startConnections } from './service.ts';
