import type { OperatorKey } from '@kith/contracts';
import type { Command } from '../command.ts';
import { accessConfig, accessOptions, accessPlatform } from '../platform-access.ts';
import { walkList } from '../walk-list.ts';
import { operatorsResult } from './operators-shared.ts';

/** Lists the operator keys, newest first. */
export const listOperatorsCommand: Command = {
  name: 'operators list',
  summary: 'list operator keys',
  reads: accessConfig,
  options: accessOptions,
  async run(given, around) {
    return operatorsResult(await walkList<OperatorKey>(accessPlatform(given, around), '/admin/operators'));
  },
};
