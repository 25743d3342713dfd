import type { ConnectionSettings, Methods } from '@kith/client';
import { useId } from 'react';
import { useAction } from '../hooks/use-action.ts';
import { useKith } from '../hooks/use-kith.ts';
import { useQuery } from '../hooks/use-query.ts';
import { useToasts } from '../hooks/use-toasts.ts';
import { announce } from '../lib/changes.ts';
import { Problem } from './problem.tsx';

const whoMayAsk: Record<ConnectionSettings['requestsFrom'], string> = {
  everyone: 'Everyone',
  common: 'People with a connection in common',
  nobody: 'Nobody',
};
/** The labels of the notification types that users can turn off on this page. */
const notificationTypes: Record<string, string> = {
  'connection-request': 'Tell me of new requests',
  'connection-accepted': 'Tell me when somebody accepts mine',
};

type Settings = [
  Methods['connections.getSettings']['output'],
  Methods['notifications.getSettings']['output'],
];

/**
 * The signed-in user's settings. They decide who may send requests, whether others see the list of connections, and which
 * notifications the user gets.
 */
export function PrivacySettings() {
  const kith = useKith();
  const { show } = useToasts();
  const { data, error } = useQuery<Settings>('settings', 'settings', (signal) =>
    Promise.all([kith.connections.getSettings({ signal }), kith.notifications.getSettings({ signal })]),
  );
  const { run, isBusy } = useAction(async (save: () => PromiseLike<unknown>) => {
    await save();
    announce('settings');
    show({ text: 'Your settings are saved.' });
  });
  const requestsId = useId();
  const problem = error !== undefined && <Problem error={error} topic="settings" />;
  if (!data) return problem;
  const [{ requestsFrom, showsConnections }, { types }] = data;
  const change = (settings: Partial<ConnectionSettings>) =>
    void run(() => kith.connections.updateSettings(settings));
  return (
    <>
      {problem}
      <fieldset className="settings" disabled={isBusy}>
        <label htmlFor={requestsId}>Who may ask to connect</label>
        <select
          id={requestsId}
          value={requestsFrom}
          onChange={({ target }) =>
            change({ requestsFrom: target.value as ConnectionSettings['requestsFrom'] })
          }
        >
          {Object.entries(whoMayAsk).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
        <Check
          label="Show my connections to others"
          checked={showsConnections}
          onChange={(isOn) => change({ showsConnections: isOn })}
        />
        {Object.entries(notificationTypes).map(([type, text]) => (
          <Check
            key={type}
            label={text}
            checked={types[type] ?? true}
            onChange={(isOn) =>
              void run(() => kith.notifications.updateSettings({ types: { [type]: isOn } }))
            }
          />
        ))}
      </fieldset>
    </>
  );
}

function Check(props: { label: string; checked: boolean; onChange: (isOn: boolean) => void }) {
  return (
    <label className="save-row">
      <input
        type="checkbox"
        checked={props.checked}
        onChange={({ target }) => props.onChange(target.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}
