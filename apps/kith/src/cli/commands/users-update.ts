import { type Command, textOf, UsageError } from '../command.ts';
import { accessConfig } from '../platform-access.ts';
import { changeUser, usersOptions, userWord } from './users-shared.ts';
import { yesOrNo, yesOrNoChoices } from './yes-or-no.ts';

/** Changes a user's role, reputation or verification. A field that is not given keeps its value. */
export const updateUserCommand: Command = {
  name: 'users update',
  summary: 'change a user’s role, reputation or verification',
  text: 'Options that you leave out change nothing. Existing access tokens keep the old role; the next token has the new role.',
  reads: accessConfig,
  options: {
    role: { value: 'ROLE', text: 'the role that access tokens contain' },
    reputation: { value: 'NUMBER', text: 'write --reputation=-5 for a negative number' },
    verified: { choices: yesOrNoChoices, text: 'whether the e-mail address belongs to the user' },
    ...usersOptions,
  },
  words: [userWord],
  async run(given, around) {
    const [role, reputation] = [textOf(given, 'role'), textOf(given, 'reputation')];
    const body = {
      ...(role === undefined ? {} : { role }),
      ...(reputation === undefined ? {} : { reputation: numberOf(reputation) }),
      ...yesOrNo(given, 'verified', 'isVerified'),
    };
    if (Object.keys(body).length === 0) throw new UsageError('Name at least one thing to change.');
    return changeUser(given, around, ['PATCH', '', body]);
  },
};

function numberOf(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new UsageError('--reputation must be a number.');
  return value;
}
