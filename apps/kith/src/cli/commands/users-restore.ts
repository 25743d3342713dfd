import type { ProjectUser } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { userPath, usersOptions, usersResult, userWord } from './users-shared.ts';

/** Lets a suspended user sign in again. */
export const restoreUserCommand: Command = {
  name: 'users restore',
  summary: 'let a suspended user sign in again',
  reads: accessConfig,
  options: usersOptions,
  words: [userWord],
  async run(given, around) {
    const path = `${userPath(given)}/restore`;
    return usersResult([await accessPlatform(given, around).call<ProjectUser>('POST', path, {})]);
  },
};
