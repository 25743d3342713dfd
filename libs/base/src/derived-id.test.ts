import { expect, test } from 'vitest';
import { derivedId } from './derived-id.ts';

test('the same names always give the same id, and other names give other ids', () => {
  const id = derivedId('user', 'project', '17');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(derivedId('user', 'project', '17')).toBe(id);
  const others = [
    derivedId('user', 'project', '18'),
    derivedId('collection', 'project', '17'),
    derivedId('user', 'project17', ''),
    derivedId('user', 'proj', 'ect17'),
    derivedId('user', 'project', '1', '7'),
  ];
  expect(new Set([id, ...others]).size).toBe(6);
});
