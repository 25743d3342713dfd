import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { readConfig, StartError } from '@kith/base';
import { storeOf } from '@kith/service';
import { noteRestored, type ServiceMove } from '@kith/store/open';
import { openDataFolder } from '../../forms/data-folder.ts';
import { type Given, optional, type Surroundings, UsageError } from '../command.ts';
import { serviceMoves } from '../move/services.ts';
import { resolvePath } from '../platform-access.ts';
import { restoredConfig } from './config.ts';

/** `kith restored`: what its command does, with all that only such commands need. */
export async function runRestored(given: Given, around: Surroundings): Promise<number> {
  const config = readConfig(restoredConfig, around.env);
  const { MONGODB_URL, KITH_DATA: kept } = config;
  const service = serviceMoves.find((one) => one.service === given.words[0]);
  if (!service) {
    const names = serviceMoves.map((one) => one.service).join(', ');
    throw new UsageError(`Name the restored service: one of ${names}.`);
  }
  const from = optional(given, 'from');
  const epoch =
    MONGODB_URL && from === undefined
      ? await note(service, storeOf(service.service, { ...config, MONGODB_URL }))
      : await noteInFolder(service, from === undefined ? resolve(kept) : resolvePath(from, around.env));
  around.stdout.write(`${service.service}: epoch ${epoch}; you can start it now\n`);
  return 0;
}

async function noteInFolder(service: ServiceMove, path: string): Promise<number> {
  if (!existsSync(`${path}/identity.sqlite`)) {
    throw new StartError(`There is no embedded installation in ${path}.`);
  }
  const folder = openDataFolder(path);
  try {
    return await note(service, { kind: 'sqlite', file: folder.file(`${service.service}.sqlite`) });
  } finally {
    folder.release();
  }
}

/** Brings the schema up to date first: the backup may be of a version before. */
async function note(service: ServiceMove, config: Parameters<typeof noteRestored>[0]): Promise<number> {
  await service.prepare(config);
  return noteRestored(config);
}
