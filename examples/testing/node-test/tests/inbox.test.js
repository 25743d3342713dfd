import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createServerClient } from '@kith/client/server';
import { startPlatform, waitFor } from '@kith/testing';
import { readInbox } from '../src/inbox.js';

const platform = await startPlatform();
after(() => platform.stop());

/** Waits for a notification. Notifications are made from events, so they arrive a moment after the change. */
const told = (user, type) =>
  platform.waitForEvent('notification.created', {
    where: ({ data }) => data.userId === user.id && data.type === type,
  });

test('readInbox returns each new notification once', async () => {
  const ada = await platform.createUser({ name: 'Ada' });
  const grace = await platform.createUser({ name: 'Grace' });
  await platform.connect(ada, grace);
  await told(grace, 'connection-request');
  await told(ada, 'connection-accepted');

  assert.deepEqual(await readInbox(platform.client(grace)), ['Ada would like to connect']);
  assert.deepEqual(await readInbox(platform.client(ada)), ['Grace has accepted your request']);
  assert.deepEqual(await readInbox(platform.client(ada)), []);
});

test('readInbox shows "Somebody" for a user without a name', async () => {
  const nobody = await platform.createUser();
  const grace = await platform.createUser({ name: 'Grace' });
  await platform.client(nobody).connections.request({ userId: grace.id });
  await told(grace, 'connection-request');
  assert.deepEqual(await readInbox(platform.client(grace)), ['Somebody would like to connect']);
});

test('readInbox also returns notifications that the application itself sends', async () => {
  const grace = await platform.createUser({ name: 'Grace' });
  const { id: projectId } = platform.project;
  const { key: serverKey } = await platform.call('POST', `/admin/projects/${projectId}/server-keys`, {
    token: platform.operatorToken,
    body: { name: 'shop' },
  });
  const server = createServerClient({ url: platform.url, projectId, serverKey });
  // The platform accepts a new key only after a moment, so the first attempts may fail.
  await waitFor(() => server.notifications.create({ userIds: [grace.id], type: 'order-shipped' }));
  await told(grace, 'order-shipped');
  assert.deepEqual(await readInbox(platform.client(grace)), ['Something new']);
});
