import { repeatHeader } from '@kith/bus';
import { connectionPaginationOf, generalPaginationOf } from '@kith/contracts';

interface Totals {
  page: number;
  limit: number;
  total: number;
  hasMore: boolean;
}

/**
 * If the items have at least this size (in bytes), a reply contains them only once. Twice this size is well below the maximum
 * size of a message.
 */
const largeItems = 1024 * 1024;

/**
 * Puts a page into the envelope of the connection lists. A v7 short form also gets the general envelope
 * (spec#short-forms-lists). Large items are contained only once, and the gateway repeats them. For this, `key` has to be the
 * first key of the answer, and `pagination` the second.
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
