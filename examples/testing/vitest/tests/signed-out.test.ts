import { isKithError } from '@kith/client';
import { startPlatform } from '@kith/testing';
import { expect, test } from 'vitest';
import { invite } from '../src/invite.ts';

// Each test file starts a platform of its own, so this file can run at the same time as the other file.
test('invite fails if the inviting user has signed out', async () => {
  await using platform = await startPlatform();
  const [ada, grace] = [await platform.createUser(), await platform.createUser()];
  const kith = platform.client(ada);
  await kith.auth.signOut();
  await platform.waitForEvent('session.revoked', { where: ({ data }) => data.userId === ada.id });
  const refusal = await invite(kith, [grace.id]).catch((error: unknown) => error);
  expect(isKithError(refusal, 'auth/unauthorized')).toBe(true);
});
