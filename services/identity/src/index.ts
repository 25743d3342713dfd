export { identityBackup } from './backup.ts';
export { identityConfig } from './config.ts';
export { deleteProjectsAgain } from './delete-again.ts';
export { type ErasureNote, erasureNote } from './erasure-list.ts';
export { Passwords } from './passwords.ts';
export { type IdentityOptions, manifest, startIdentity } from './service.ts';
export { readKeys } from './store/index.ts';
export { checkSeal } from './tokens/signing-keys.ts';
