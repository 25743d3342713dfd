import type { OutputOf, rotateKeys } from '@kith/contracts';
import type { Result } from '../command.ts';
import { tableOf } from '../table.ts';

/** Shows keys of access tokens. */
export function keysResult({ keys }: OutputOf<typeof rotateKeys>): Result {
  const text = tableOf(keys, {
    kid: ({ kid }) => kid,
    state: ({ state }) => state,
    created: ({ createdAt }) => createdAt,
    'signs from': ({ signsFrom }) => signsFrom,
  });
  return { value: keys, text };
}
