import { createNotifications } from '@kith/contracts';
import { expect, test } from 'vitest';
import { isListed } from './is-listed.ts';

test.each([
  // If the time for a request is over and the service has already changed something, the service answers with `gateway/timeout`
  // (spec#notifications-own-partly).
  ['gateway/unavailable', true],
  ['gateway/timeout', true],
  ['app-notification/invalid-body', true],
  ['auth/invalid-credentials', false],
] as const)('an operation of notifications may answer with %s: %s', (code, isKnown) => {
  expect(isListed(createNotifications, code)).toBe(isKnown);
});
