export { type Credentials, engineOwner, ensureCredentials } from './credentials/credentials.ts';
export {
  type DatabaseUser,
  databaseUsers,
  ensureDatabaseUsers,
} from './credentials/database-users.ts';
export { type NatsRights, type NatsUser, natsRights } from './credentials/nats-rights.ts';
export { type RedisRights, type RedisUser, redisRights } from './credentials/redis.ts';
export { type Call, CallError, caller } from './demo/api.ts';
export { type Demo, ensureDemo, type StartFile } from './demo/demo.ts';
export { beginAnewNotice, type RefusedUser, signInNotice } from './demo/sign-in-notice.ts';
export { copyNotice, goodbye, type InternalAddress, productionNotice, welcome } from './demo/welcome.ts';
export { type BackupManifest, readManifest, writeManifest } from './forms/backup-manifest.ts';
export { type PlatformConfig, platformConfig, startDefaults } from './forms/config.ts';
export { type DataFolder, dataFolder, type OpenDataFolder, openDataFolder } from './forms/data-folder.ts';
export { type DistributedOptions, type DistributedPlatform, startDistributed } from './forms/distributed.ts';
export {
  type EmbeddedOptions,
  type EmbeddedPlatform,
  type Platform,
  startEmbedded,
} from './forms/embedded.ts';
export { makeFolder } from './forms/folder-lock.ts';
export { nodeFlags } from './forms/node-flags.ts';
export { operatorToken } from './forms/operator-token.ts';
export { refuseTakenPort } from './forms/port-taken.ts';
export { type ServiceProcess, startServiceProcess } from './forms/processes.ts';
export { consumersOf } from './keeper/consumers.ts';
export {
  type ProcessName,
  secretNames,
  serviceNames,
  services,
  storingNames,
  streamingNames,
} from './services.ts';
