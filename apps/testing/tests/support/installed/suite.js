// A suite of an application that has installed @kith/testing. The variable ENGINE says on which engine the suite runs.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPlatform } from '@kith/testing';

test('two people connect', async () => {
  await using platform = await startPlatform({ engine: process.env.ENGINE });
  const ada = await platform.createUser({ name: 'Ada' });
  const grace = await platform.createUser({ name: 'Grace' });
  await platform.connect(ada, grace);
  const { data } = await platform.waitForEvent('connection.accepted');
  assert.equal(data.requesterId, ada.id);
  const { items } = await platform.client(grace).connections.list();
  assert.equal(items[0].connectedUser.name, 'Ada');
  const reference = await fetch(`${platform.url}/docs`);
  assert.match(await reference.text(), /Kith API reference/);
});
