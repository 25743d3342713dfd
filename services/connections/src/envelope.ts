import { repeatHeader } from '@kith/bus';
import { connectionPaginationOf, generalPaginationOf } from '@kith/contracts';

interface Totals {
  page: number;
  limit: number;
  total: number;
  hasMore: boolean;
}

/**
 * If the items of a page have at least this size (in bytes), the reply to a v7 short form contains them only once. Even twice
 * this size is well below the maximum size of a message.
 */
const largeItems = 1024 * 1024;

/**
 * Puts a page into the envelope of the connection lists. For a v7 short form, the answer also has the general envelope, which
 * contains the items a second time (spec#short-forms-lists). If the items are large, the reply contains them only once, and the
 * gateway adds the second copy. To make this possible, `key` has to be the first key of the answer, and `pagination` the
 * second.
 */
export function envelopeOf<Key extends string, Item>(
  key: Key,
  items: Item[],
  totals: Totals,
  request: {
    isShort?: true;
    wireVersion: 'v6' | 'v7';
    setHeader(name: string, value: string): void;
  },
) {
  const list = { [key]: items } as Record<Key, Item[]>;
  const own = connectionPaginationOf(totals);
  if (!request.isShort || request.wireVersion !== 'v7') return { ...list, pagination: own };
  const pagination = { ...own, ...generalPaginationOf(totals) };
  if (Buffer.byteLength(JSON.stringify(items)) < largeItems) return { ...list, data: items, pagination };
  request.setHeader(repeatHeader, key);
  return { ...list, pagination };
}
