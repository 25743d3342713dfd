import { readConfig } from '@kith/base';
import { storeOf } from '@kith/service';
import { noteRestored, type ServiceMove } from '@kith/store/open';
import { openDataFolder } from '../../forms/data-folder.ts';
import { serviceMoves } from '../../services.ts';
import { type Given, type Result, type Surroundings, textOf } from '../command.ts';
import { requireInstallation, resolvePath } from '../data-folder.ts';
import { restoredConfig } from './config.ts';

/**
 * Carries out `kith restored`. The command's definition is in another file, so that other commands do not load the code that
 * this file imports.
 */
export async function runRestored(given: Given, { env }: Surroundings): Promise<Result> {
  const config = readConfig(restoredConfig, env);
  const { MONGODB_URL, KITH_DATA } = config;
  const move = serviceMoves.find(({ service }) => service === given.words[0])!;
  const { service } = move;
  const from = textOf(given, 'from');
  const epoch =
    MONGODB_URL && from === undefined
      ? await note(move, storeOf(service, { ...config, MONGODB_URL }))
      : await noteInFolder(move, resolvePath(from ?? KITH_DATA, env));
  return { value: { service, epoch }, text: `${service}: epoch ${epoch}; you can start it now\n` };
}

async function noteInFolder(service: ServiceMove, path: string): Promise<number> {
  requireInstallation(path);
  const folder = openDataFolder(path);
  try {
    return await note(service, { kind: 'sqlite', file: folder.file(`${service.service}.sqlite`) });
  } finally {
    folder.release();
  }
}

/**
 * Notes that a database was restored. First brings its schema up to date, because the backup may be from an earlier version.
 */
async function note(service: ServiceMove, config: Parameters<typeof noteRestored>[0]): Promise<number> {
  await service.prepare(config);
  return noteRestored(config);
}
