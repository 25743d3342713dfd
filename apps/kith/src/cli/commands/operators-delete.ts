import type { Command } from '../command.ts';
import { segmentOf } from '../paths.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';

/** Removes an operator key. */
export const deleteOperatorCommand: Command = {
  name: 'operators delete',
  summary: 'remove an operator key; the key stops working within a second',
  reads: accessConfig,
  options: accessOptions,
  words: [{ value: 'ID', what: 'key id' }],
  async run(given, around) {
    const [id = ''] = given.words;
    await accessPlatform(given, around).call('DELETE', `/admin/operators/${segmentOf(id)}`);
    return { value: [{ id, status: 'deleted' }], text: `The operator key ${id} no longer works\n` };
  },
};
