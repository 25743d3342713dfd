// Checks the types of an installed @kith/testing.
import { startPlatform } from '@kith/testing';

const platform = await startPlatform();
const { data } = await platform.waitForEvent('connection.accepted', {
  where: ({ data: { requesterId } }) => requesterId === platform.project.id,
});
export const receiverId: string = data.receiverId;
// @ts-expect-error: there is no such event.
platform.waitForEvent('connection.eaten');
// @ts-expect-error: this event has no such field.
export const nothing = data.nothing;
// @ts-expect-error: the method needs more input.
platform.client().users.get({});
