import { readFileSync } from 'node:fs';
import type { ProjectUser } from '@kith/contracts';
import { type Command, textOf } from '../command.ts';
import { resolvePath } from '../data-folder.ts';
import { unreadable } from '../file-error.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { userPath, usersOptions, usersResult, userWord } from './users-shared.ts';

/** Sets a user's password. It is never an argument: those stand in lists of processes and histories. */
export const setPasswordCommand: Command = {
  name: 'users set-password',
  summary: 'set a user’s password; all sessions of the user end',
  reads: accessConfig,
  options: {
    'password-file': {
      value: 'FILE',
      text: 'a file whose first line is the new password; - reads it from the standard input',
      isNeeded: true,
    },
    ...usersOptions,
  },
  words: [userWord],
  async run(given, around) {
    const file = textOf(given, 'password-file') ?? '';
    const password = firstLine(file === '-' ? file : resolvePath(file, around.env));
    const path = `${userPath(given)}/set-password`;
    return usersResult([await accessPlatform(given, around).call<ProjectUser>('POST', path, { password })]);
  },
};

function firstLine(file: string): string {
  try {
    // 0 is the standard input.
    return readFileSync(file === '-' ? 0 : file, 'utf8').split(/\r?\n/, 1)[0] ?? '';
  } catch (error) {
    throw unreadable(file, error as NodeJS.ErrnoException);
  }
}
