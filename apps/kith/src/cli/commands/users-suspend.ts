import { type Command, textOf } from '../command.ts';
import { accessConfig } from '../platform-access.ts';
import { changeUser, usersOptions, userWord } from './users-shared.ts';

/** Suspends a user, whose tokens stop working immediately. */
export const suspendUserCommand: Command = {
  name: 'users suspend',
  summary: 'suspend a user; the user’s tokens stop working at once',
  text: 'To change the time or the reason, run the command again.',
  reads: accessConfig,
  options: {
    until: { value: 'TIME', text: 'when the suspension ends by itself, for example 2026-12-31T18:00:00Z' },
    reason: { value: 'TEXT', text: 'shown only to operators' },
    ...usersOptions,
  },
  words: [userWord],
  async run(given, around) {
    const body = { until: textOf(given, 'until'), reason: textOf(given, 'reason') };
    return changeUser(given, around, ['POST', '/suspend', body]);
  },
};
