import { expect, it } from 'vitest';
import { requestIdOf } from './request-id.ts';

it('requestIdOf() keeps a request id that is short and safe', () => {
  for (const id of ['a', 'A-1_b.c', 'x'.repeat(64)]) expect(requestIdOf(id)).toBe(id);
});

it('requestIdOf() makes a new request id for any other header', () => {
  for (const id of [undefined, '', 'x'.repeat(65), 'a b', 'a\nb', 'a, b', 'é', '"', ['a', 'b']]) {
    expect(requestIdOf(id)).toMatch(/^[0-9a-f-]{36}$/);
  }
});
