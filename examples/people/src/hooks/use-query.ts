import { useEffect, useEffectEvent, useState } from 'react';
import type { Topic } from '../lib/changes.ts';
import { useVersion } from './use-version.ts';

export interface Query<T> {
  /** Undefined until it is there. What was there stays while it is asked for anew. */
  data: T | undefined;
  error: unknown;
}

/**
 * Asks for something when it is shown, and again whenever its topic was announced.
 *
 * @param key Says what is asked for: another key, another question. Undefined asks nothing.
 */
export function useQuery<T>(
  key: string | undefined,
  topic: Topic,
  ask: (signal: AbortSignal) => PromiseLike<T>,
): Query<T> {
  const version = useVersion(topic);
  const [answer, setAnswer] = useState<Query<T> & { key?: string }>({ data: undefined, error: undefined });
  const askNow = useEffectEvent(ask);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version asks again.
  useEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    askNow(signal).then(
      (data) => signal.aborted || setAnswer({ key, data, error: undefined }),
      (error) => signal.aborted || setAnswer({ key, data: undefined, error }),
    );
    return () => controller.abort();
  }, [key, version]);

  return answer.key === key && key !== undefined ? answer : { data: undefined, error: undefined };
}
