import { connectionPaginationOf, generalPaginationOf } from '@kith/contracts';

interface Totals {
  page: number;
  limit: number;
  total: number;
  hasMore: boolean;
}

/**
 * Puts a page into the envelope of the connection lists; in a v7 short form the general envelope is there as well
 * (spec#short-forms-lists).
 */
export function envelopeOf<Key extends string, Item>(
  key: Key,
  items: Item[],
  totals: Totals,
  request: { isShort?: true; wireVersion: 'v6' | 'v7' },
) {
  const list = { [key]: items } as Record<Key, Item[]>;
  const pagination = connectionPaginationOf(totals);
  if (!request.isShort || request.wireVersion !== 'v7') return { ...list, pagination };
  return { ...list, data: items, pagination: { ...pagination, ...generalPaginationOf(totals) } };
}
