// Checks the types of an installed @kith/testing.
import { startPlatform } from '@kith/testing';

const platform = await startPlatform();
const { data } = await platform.waitForEvent('connection.accepted', {
  where: ({ data: { requesterId } }) => requesterId === platform.project.id,
});
export const receiverId: string = data.receiverId;
// @ts-expect-error: an event that is not told.
platform.waitForEvent('connection.eaten');
// @ts-expect-error: this event does not say that.
export const nothing = data.nothing;
// @ts-expect-error: a client's method without what it needs.
platform.client().users.get({});
