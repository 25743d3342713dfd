import { type Given, type Result, type Surroundings, textOf } from '../command.ts';
import { folderOf, resolvePath } from '../data-folder.ts';
import { adopt } from './adopt.ts';

/** Carries out `kith adopt`. */
export async function runAdopt(given: Given, { env }: Surroundings): Promise<Result> {
  const folder = resolvePath(textOf(given, 'from') ?? folderOf(env), env);
  await adopt(folder);
  return { value: { folder }, text: `${folder} is now a separate installation\n` };
}
