import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { userPath, usersOptions, userWord } from './users-shared.ts';

/** Ends all sessions of a user. */
export const endUserSessionsCommand: Command = {
  name: 'users end-sessions',
  summary: 'end all sessions of a user; the user has to sign in again',
  reads: accessConfig,
  options: usersOptions,
  words: [userWord],
  async run(given, around) {
    await accessPlatform(given, around).call('DELETE', `${userPath(given)}/sessions`);
    const [id = ''] = given.words;
    return { value: [{ id, sessions: 'ended' }], text: `The sessions of ${id} have ended\n` };
  },
};
