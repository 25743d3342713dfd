import { createNotifications } from '@kith/contracts';
import { expect, test } from 'vitest';
import { isListed } from './is-listed.ts';

test.each([
  // A service answers with `gateway/timeout` if its time is over and it has already changed something
  // (spec#notifications-own-partly).
  ['gateway/unavailable', true],
  ['gateway/timeout', true],
  ['app-notification/invalid-body', true],
  ['auth/invalid-credentials', false],
] as const)('an operation of notifications may answer with %s: %s', (code, isKnown) => {
  expect(isListed(createNotifications, code)).toBe(isKnown);
});
