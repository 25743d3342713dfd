import type { Command } from '../command.ts';
import { segmentOf } from '../paths.ts';
import { accessConfig, accessPlatform } from '../platform-access.ts';
import { serverKeysOptions, serverKeysPath } from './server-keys-shared.ts';

/** Removes a server key. */
export const deleteServerKeyCommand: Command = {
  name: 'server-keys delete',
  summary: 'remove a server key; the key stops working within a second',
  reads: accessConfig,
  options: serverKeysOptions,
  words: [{ value: 'ID', what: 'key id' }],
  async run(given, around) {
    const [id = ''] = given.words;
    const { call } = accessPlatform(given, around);
    await call('DELETE', `${serverKeysPath(given)}/${segmentOf(id)}`);
    return { value: [{ id, status: 'deleted' }], text: `The server key ${id} no longer works\n` };
  },
};
