import type { Command } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { userPath, usersOptions, userWord } from './users-shared.ts';

/** Removes the second factors of a user who has lost them. */
export const removeUserFactorsCommand: Command = {
  name: 'users remove-factors',
  summary:
    'remove all second factors and recovery codes of a user; the user then signs in with the password alone',
  text: 'First make sure that the request comes from the user. Sessions stay open; kith users end-sessions ends them.',
  reads: accessConfig,
  options: usersOptions,
  words: [userWord],
  async run(given, around) {
    await accessPlatform(given, around).call('DELETE', `${userPath(given)}/factors`);
    const [id = ''] = given.words;
    return { value: [{ id, factors: 'removed' }], text: `The second factors of ${id} are removed\n` };
  },
};
