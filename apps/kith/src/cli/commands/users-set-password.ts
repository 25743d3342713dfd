import { type Command, textOf } from '../command.ts';
import { resolvePath } from '../data-folder.ts';
import { accessConfig } from '../platform-access.ts';
import { readFirstInputLine, readFirstLine } from '../read-text.ts';
import { changeUser, usersOptions, userWord } from './users-shared.ts';

/** Sets a user's password. The password is never an argument, because process lists and shell histories show arguments. */
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
    const password = file === '-' ? await readFirstInputLine() : readFirstLine(resolvePath(file, around.env));
    return changeUser(given, around, ['POST', '/set-password', { password }]);
  },
};
