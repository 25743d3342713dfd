import { isKithError } from '@kith/client';
import { useEffect, useEffectEvent, useState } from 'react';
import type { Topic } from '../lib/changes.ts';
import { useVersion } from './use-version.ts';

export interface Query<T> {
  /**
   * The loaded data; `undefined` until it is loaded. The old data stays here while the data is loaded again, and also if the
   * loading fails. But if the platform answers that the data no longer exists, this field becomes `undefined`.
   */
  data: T | undefined;
  /** Why the last loading failed; `undefined` if it succeeded. */
  error: unknown;
}

/**
 * Loads data when its component is shown, and again whenever a change of the data's topic is announced.
 *
 * @param key Identifies the query. With another key, other data is loaded. `undefined` loads nothing.
 */
export function useQuery<T>(
  key: string | undefined,
  topic: Topic,
  ask: (signal: AbortSignal) => PromiseLike<T>,
): Query<T> {
  const version = useVersion(topic);
  const [answer, setAnswer] = useState<Query<T> & { key?: string }>({ data: undefined, error: undefined });
  const askNow = useEffectEvent(ask);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version loads the data again.
  useEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    askNow(signal).then(
      (data) => signal.aborted || setAnswer({ key, data, error: undefined }),
      (error) =>
        signal.aborted ||
        setAnswer((last) => {
          const isGone = isKithError(error) && error.code.endsWith('not-found');
          return { key, data: last.key === key && !isGone ? last.data : undefined, error };
        }),
    );
    return () => controller.abort();
  }, [key, version]);

  return answer.key === key && key !== undefined ? answer : { data: undefined, error: undefined };
}
