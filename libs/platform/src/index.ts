export { type BackupManifest, readManifest, writeManifest } from './backup-manifest.ts';
export { type PlatformConfig, platformConfig } from './config.ts';
export { type DataFolder, openDataFolder, readIfThere } from './data-folder.ts';
export { type Call, CallError, caller } from './demo/api.ts';
export { ensureDemo, type StartFile } from './demo/demo.ts';
export { copyNotice, goodbye, type InternalAddress, productionNotice, welcome } from './demo/welcome.ts';
export { type DistributedOptions, type DistributedPlatform, startDistributed } from './distributed.ts';
export {
  type EmbeddedOptions,
  type EmbeddedPlatform,
  type Platform,
  settingsOf,
  startEmbedded,
} from './embedded.ts';
export { type NatsRights, type NatsUser, natsRights } from './nats/rights.ts';
export { ensureNatsUsers, type NatsUserFiles } from './nats/users.ts';
export { nodeFlags } from './node-flags.ts';
export { operatorToken } from './operator-token.ts';
export { refuseTakenPort } from './port-taken.ts';
export { type ProcessName, type ServiceProcess, startServiceProcess } from './processes.ts';
export { type ServiceSettings, serviceNames, startServiceByName } from './services.ts';
