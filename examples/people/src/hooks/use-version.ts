import { useSyncExternalStore } from 'react';
import { subscribeToChanges, type Topic, versionOf } from '../lib/changes.ts';

/** A number that is another one as soon as a topic was announced. */
export function useVersion(topic: Topic): number {
  return useSyncExternalStore(subscribeToChanges, () => versionOf(topic));
}
