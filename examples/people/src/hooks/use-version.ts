import { useSyncExternalStore } from 'react';
import { subscribeToChanges, type Topic, versionOf } from '../lib/changes.ts';

/** A number that changes whenever a change of the topic is announced. */
export function useVersion(topic: Topic): number {
  return useSyncExternalStore(subscribeToChanges, () => versionOf(topic));
}
