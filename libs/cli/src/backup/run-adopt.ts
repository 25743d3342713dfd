import { resolve } from 'node:path';
import { readConfig } from '@kith/service';
import type { Given, Surroundings } from '../command.ts';
import { resolvePath } from '../platform-access.ts';
import { adopt } from './adopt.ts';
import { restoreConfig } from './config.ts';

/** `kith adopt`: what its command does. */
export async function runAdopt(given: Given, around: Surroundings): Promise<number> {
  const [word] = given.words;
  const path = word
    ? resolvePath(word, around.env)
    : resolve(readConfig(restoreConfig, around.env).KITH_DATA);
  await adopt(path);
  around.stdout.write(`${path} is an installation of its own now\n`);
  return 0;
}
