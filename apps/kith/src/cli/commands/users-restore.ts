import type { Command } from '../command.ts';
import { accessConfig } from '../platform-access.ts';
import { changeUser, usersOptions, userWord } from './users-shared.ts';

/** Lets a suspended user sign in again. */
export const restoreUserCommand: Command = {
  name: 'users restore',
  summary: 'let a suspended user sign in again',
  reads: accessConfig,
  options: usersOptions,
  words: [userWord],
  run: (given, around) => changeUser(given, around, ['POST', '/restore', {}]),
};
