import { expect, test } from 'vitest';
import { eventOrder } from './envelope.ts';

test('events are ordered by epoch, then by seq, and in the first epoch the order is the seq', () => {
  expect(eventOrder({ seq: 7 })).toBe(7);
  const inOrder = [
    { seq: 0 },
    { seq: 5 },
    { seq: 4e9 },
    { seq: 0, epoch: 1 },
    { seq: 6, epoch: 1 },
    { seq: 1, epoch: 2 },
  ];
  const orders = inOrder.map(eventOrder);
  expect(orders).toEqual(orders.toSorted((a, b) => a - b));
  expect(new Set(orders).size).toBe(inOrder.length);
});
