import { connectionPaginationOf, generalPaginationOf } from '@kith/contracts';

interface Totals {
  page: number;
  limit: number;
  total: number;
  hasMore: boolean;
}

/**
 * Puts a page into the envelope of the connection lists. A v7 short form also gets the general envelope
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
