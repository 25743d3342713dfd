import { ApiError } from '@kith/base';
import { maxTypesOff, updateNotificationSettings } from '@kith/contracts';
import { handler } from '@kith/service';
import type { AppContext } from '../app.ts';
import { settingsOf } from '../settings-view.ts';

/**
 * Turns the given types of notifications on or off. When the caller gets the answer, the change is already in effect
 * (spec#notifications-settings).
 */
export const updateSettingsHandler = handler(updateNotificationSettings, async (request, app: AppContext) => {
  const { projectId, caller, body, deadline } = request;
  const given = Object.entries(body.types ?? {});
  const owner = { projectId, userId: caller.userId };
  const change = ({ off }: { off: string[] }) => {
    const all = new Set(off);
    for (const [type, isOn] of given) all[isOn ? 'delete' : 'add'](type);
    if (all.size > maxTypesOff) throw new ApiError('app-notification/invalid-body', tooMany);
    return { off: [...all].sort() };
  };
  return settingsOf(await app.store.settings.change(owner, change, deadline));
});

const tooMany = {
  field: 'types',
  message: `types can turn off at most ${maxTypesOff} types. First turn other types on.`,
};
