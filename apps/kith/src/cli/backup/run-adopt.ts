import { resolve } from 'node:path';
import { readConfig } from '@kith/base';
import { type Given, optional, type Surroundings } from '../command.ts';
import { resolvePath } from '../platform-access.ts';
import { adopt } from './adopt.ts';
import { adoptConfig } from './config.ts';

/** `kith adopt`: what its command does. */
export async function runAdopt(given: Given, around: Surroundings): Promise<number> {
  const from = optional(given, 'from');
  const kept = readConfig(adoptConfig, around.env).KITH_DATA;
  const path = from === undefined ? resolve(kept) : resolvePath(from, around.env);
  await adopt(path);
  around.stdout.write(`${path} is now a separate installation\n`);
  return 0;
}
