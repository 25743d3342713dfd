/** A kind of data. After a change of this data is announced, components that show the data load it again. */
export type Topic =
  | 'connections'
  | 'factors'
  | 'folders'
  | 'notifications'
  | 'profiles'
  | 'sessions'
  | 'settings';

const versions: Record<Topic, number> = {
  connections: 0,
  factors: 0,
  folders: 0,
  notifications: 0,
  profiles: 0,
  sessions: 0,
  settings: 0,
};
const listeners = new Set<() => void>();
/** Carries announcements to and from other tabs, because they show the same data. */
const otherTabs = new BroadcastChannel('kith-people-changes');

otherTabs.onmessage = ({ data }: MessageEvent<Topic>) => announceHere(data);

/** Announces a change of a topic to all components that show it, in every tab. */
export function announce(topic: Topic): void {
  announceHere(topic);
  otherTabs.postMessage(topic);
}

/**
 * Announces a change only in this tab. Use it if every tab learns of the change by itself, for example from its own stream of
 * notifications.
 */
export function announceHere(topic: Topic): void {
  versions[topic]++;
  for (const listener of [...listeners]) listener();
}

export function subscribeToChanges(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function versionOf(topic: Topic): number {
  return versions[topic];
}
