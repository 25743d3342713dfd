import { type Given, type Option, textOf } from '../command.ts';
import { projectPath } from '../paths.ts';
import { accessOptions } from '../platform-access.ts';

export const serverKeysOptions = {
  project: { value: 'ID', text: 'the keys’ project', isNeeded: true },
  ...accessOptions,
} satisfies Record<string, Option>;

/** The path of the server keys of `--project`. */
export function serverKeysPath(given: Given): string {
  return `${projectPath(textOf(given, 'project'))}/server-keys`;
}
