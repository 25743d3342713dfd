import type { OutputOf, rotateKeys } from '@kith/contracts';
import type { Surroundings } from '../command.ts';
import { print } from '../table.ts';

/** Prints keys of access tokens as a table, or as JSON. */
export function printKeys(
  around: Surroundings,
  keys: OutputOf<typeof rotateKeys>['keys'],
  json: boolean,
): void {
  print(around, keys, {
    json,
    columns: {
      kid: ({ kid }) => kid,
      state: ({ state }) => state,
      created: ({ createdAt }) => createdAt,
      'signs from': ({ signsFrom }) => signsFrom,
    },
  });
}
