import type { createServerKey, OutputOf } from '@kith/contracts';
import { type Command, textOf } from '../command.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { serverKeysOptions, serverKeysPath } from './server-keys-shared.ts';

/** Makes a server key, and shows it. */
export const createServerKeyCommand: Command = {
  name: 'server-keys create',
  summary: 'make a key for an application’s own back end',
  text: `Prints the key, which is not shown again. The back end of the application sends it as a bearer token.
The key must never reach a web page.`,
  reads: accessConfig,
  options: { name: { value: 'NAME', text: 'what the key is for', isNeeded: true }, ...serverKeysOptions },
  async run(given, around) {
    const { call } = accessPlatform(given, around);
    const body = { name: textOf(given, 'name') };
    const made = await call<OutputOf<typeof createServerKey>>('POST', serverKeysPath(given), body);
    return { value: [made], text: `${made.key}\n` };
  },
};
