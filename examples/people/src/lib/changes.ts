/** What may have changed on the platform; everything that shows it loads it again. */
export type Topic = 'connections' | 'factors' | 'folders' | 'notifications' | 'sessions' | 'settings';

const versions: Record<Topic, number> = {
  connections: 0,
  factors: 0,
  folders: 0,
  notifications: 0,
  sessions: 0,
  settings: 0,
};
const listeners = new Set<() => void>();
/** Other tabs show the same data. */
const otherTabs = new BroadcastChannel('kith-people-changes');

otherTabs.onmessage = ({ data }: MessageEvent<Topic>) => announceHere(data);

/** Tells everything that shows a topic, in every tab, that it has changed. */
export function announce(topic: Topic): void {
  announceHere(topic);
  otherTabs.postMessage(topic);
}

/** The same, but only in this tab: for changes that every tab hears of by itself. */
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
