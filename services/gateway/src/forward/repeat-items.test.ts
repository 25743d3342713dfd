import { repeatHeader } from '@kith/bus';
import { expect, it } from 'vitest';
import { repeatItems } from './repeat-items.ts';

it('repeatItems() repeats the items of a list, no matter what they contain, and leaves other replies as they are', () => {
  const list = {
    requests: [{ message: ',"pagination":{}', user: { metadata: { é: [1], pagination: {} } } }, {}],
    pagination: { page: 1, hasMore: false },
  };
  const body = new TextEncoder().encode(JSON.stringify(list));
  const headers = { [repeatHeader]: 'requests' };
  const repeated = JSON.parse(new TextDecoder().decode(repeatItems({ headers, body }).body));
  expect(repeated).toEqual({ ...list, data: list.requests });
  const other = { headers: {}, body };
  expect(repeatItems(other)).toBe(other);
});
