export { identityConfig } from './config.ts';
export { type IdentityOptions, startIdentity } from './service.ts';
export { identityMove } from './store/move.ts';
