export { identityBackup } from './backup.ts';
export { identityConfig } from './config.ts';
export { type ErasureNote, erasureNote } from './erasure-list.ts';
export { identityMove } from './move.ts';
export { Passwords } from './passwords.ts';
export { type IdentityOptions, startIdentity } from './service.ts';
