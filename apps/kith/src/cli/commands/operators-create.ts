import { type createOperator, type OutputOf, operatorScopes } from '@kith/contracts';
import { type Command, textOf } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';

/** Makes an operator key, and shows its token. */
export const createOperatorCommand: Command = {
  name: 'operators create',
  summary: 'make an operator key with limited rights',
  text: `Prints the key's token, which is not shown again. Send it in the same way as OPERATOR_TOKEN.
Only OPERATOR_TOKEN itself can make keys.`,
  reads: accessConfig,
  options: {
    name: { value: 'NAME', text: 'the person or program that the key is for', isNeeded: true },
    scope: { value: 'SCOPE', text: operatorScopes.join(', '), multiple: true, isNeeded: true },
    project: { value: 'ID', text: 'a project that the key is for (default: all)', multiple: true },
    expires: {
      value: 'TIME',
      text: 'when the key stops working, for example 2027-01-31T00:00:00Z (default: never)',
    },
    ...accessOptions,
  },
  async run(given, around) {
    const { scope: scopes, project: projectIds } = given.options;
    const expiresAt = textOf(given, 'expires');
    const made = await accessPlatform(given, around).call<OutputOf<typeof createOperator>>(
      'POST',
      '/admin/operators',
      {
        name: textOf(given, 'name'),
        scopes,
        ...(projectIds === undefined ? {} : { projectIds }),
        ...(expiresAt === undefined ? {} : { expiresAt }),
      },
    );
    return { value: [made], text: `${made.token}\n` };
  },
};
