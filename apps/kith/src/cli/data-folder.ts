import { existsSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { readConfig, StartError } from '@kith/base/config';
import { z } from 'zod';
import { dataFolderConfig } from '../forms/data-folder-config.ts';

/** What a command reads from the environment if it needs only the data folder. */
export const folderConfig = dataFolderConfig.pick({ KITH_DATA: true });

const named = z.object({ KITH_DATA: z.string().optional() });

/**
 * The data folder that a command works on: KITH_DATA, or by default `.kith` in the folder where the command was typed. If this
 * is a subfolder of the project, and the subfolder has no `.kith`, the project's `.kith` is used. `npm start` also uses the
 * project's `.kith`, because npm always runs it in the project's folder.
 */
export function dataFolderIn(env: NodeJS.ProcessEnv): string {
  const here = whereGiven(env);
  const { KITH_DATA } = readConfig(named, env);
  if (KITH_DATA !== undefined) return resolve(here, KITH_DATA);
  const own = join(here, '.kith');
  const isInProject = here.startsWith(process.cwd() + sep);
  return isInProject && !existsSync(own) ? resolve('.kith') : own;
}

/** The data folder that a command's environment names. */
export function folderOf(env: NodeJS.ProcessEnv): string {
  return readConfig(folderConfig, env).KITH_DATA;
}

/**
 * Throws `StartError` if the folder holds no embedded installation. Every embedded installation has the file `file`.
 */
export function requireInstallation(path: string, file = 'identity.sqlite'): void {
  if (!existsSync(join(path, file))) throw new StartError(`There is no embedded installation in ${path}.`);
}

/** Resolves a path relative to the folder where the command was typed. */
export function resolvePath(path: string, env: NodeJS.ProcessEnv): string {
  return resolve(whereGiven(env), path);
}

/** Settings that name a folder, apart from those that their commands resolve. */
const folders: readonly string[] = ['MAIL_FOLDER', 'ENGINE_CERTIFICATES'];

/**
 * Returns the environment with absolute paths in each NAME_FILE, and in settings that name a folder. A relative path starts at
 * the folder where the command was typed.
 */
export function withResolvedPaths(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const paths = Object.entries(env).flatMap(([name, path]) =>
    path && (name.endsWith('_FILE') || folders.includes(name)) ? [[name, resolvePath(path, env)]] : [],
  );
  return { ...env, ...Object.fromEntries(paths) };
}

/**
 * The folder where the command was typed. npm may run `kith` in another folder. So `kith.mjs` passes on this folder as
 * KITH_CWD.
 */
function whereGiven(env: NodeJS.ProcessEnv): string {
  return env.KITH_CWD ?? process.cwd();
}
