import { startPlatform, type TestPlatform, type TestUser } from '@kith/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { invite } from '../src/invite.ts';

let platform: TestPlatform;
let ada: TestUser;

beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform?.stop());
beforeEach(async () => {
  ada = await platform.createUser({ name: 'Ada' });
});

test('invite asks users who are not connected yet, and asks nobody twice', async () => {
  const [stranger, friend] = [await platform.createUser(), await platform.createUser()];
  await platform.connect(ada, friend);
  const kith = platform.client(ada);
  expect(await invite(kith, [stranger.id, friend.id])).toEqual(['sent', 'known']);
  expect(await invite(kith, [stranger.id])).toEqual(['known']);
  const { items } = await platform.client(stranger).connections.listReceived();
  expect(items).toMatchObject([{ message: 'Shall we connect?', user: { id: ada.id } }]);
});

test('invite reports a refusal by a user who has blocked the inviting user', async () => {
  const shy = await platform.createUser();
  await platform.client(shy).connections.block({ userId: ada.id });
  expect(await invite(platform.client(ada), [shy.id])).toEqual(['refused']);
});

test('invite skips users whose accounts were deleted', async () => {
  const left = await platform.createUser();
  await platform.client(left).users.delete({ userId: left.id });
  await platform.waitForEvent('user.deleted', { where: ({ data }) => data.id === left.id });
  expect(await invite(platform.client(ada), [left.id])).toEqual(['gone']);
});
