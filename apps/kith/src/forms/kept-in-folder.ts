import type { PlatformConfig } from './config.ts';

type Places = Pick<PlatformConfig, 'STORAGE_URL' | 'ERASURES_FILE'>;

/**
 * Settings with which a platform keeps the bytes of files and the list of erasures in its data folder, whatever its environment
 * says. This changes settings that were read already, because each of them can also come from a file or a command.
 */
export function keptInFolder<Config extends Places>(config: Config): Config {
  return { ...config, STORAGE_URL: undefined, ERASURES_FILE: undefined };
}
