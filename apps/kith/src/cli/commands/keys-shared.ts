import type { OutputOf, rotateKeys } from '@kith/contracts';
import type { Result } from '../command.ts';
import { tableOf } from '../table.ts';

/** Shows the keys that sign access tokens. */
export function keysResult({ keys }: OutputOf<typeof rotateKeys>): Result {
  const text = tableOf(keys, {
    kid: ({ kid }) => kid,
    state: ({ state }) => state,
    created: ({ createdAt }) => createdAt,
    'signs from': ({ signsFrom }) => signsFrom,
  });
  return { value: keys, text };
}
