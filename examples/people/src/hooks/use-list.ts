import type { List, Page } from '@kith/client';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import type { Topic } from '../lib/changes.ts';
import { useVersion } from './use-version.ts';

export interface Walk<Item> {
  items: Item[];
  /** The number of all items; `undefined` until the first page is loaded. */
  total: number | undefined;
  isLoading: boolean;
  error: unknown;
  /** Loads the next page; `undefined` at the end of the list, and while a page or the whole list is being loaded. */
  loadMore: (() => void) | undefined;
}

interface State<Item> {
  key: string;
  /** The version of the topic when these items were loaded. */
  version: number;
  items: Item[];
  total: number | undefined;
  isLoading: boolean;
  isDone: boolean;
  error: unknown;
}

const nothing = { items: [], total: undefined, isLoading: true, isDone: false, error: undefined };

/**
 * Loads a list page by page, as far as requested. When a change of the list's topic is announced, loads the list again, up to
 * the same length. The old items are shown until the new items have arrived. They stay if the new items cannot be loaded.
 *
 * @param key Identifies the list. With another key, another list is loaded.
 */
export function useList<Item>(
  key: string,
  topic: Topic,
  open: (signal: AbortSignal) => List<Item>,
): Walk<Item> {
  const version = useVersion(topic);
  const [state, setState] = useState<State<Item>>({ key, version, ...nothing });
  const shown = state.key === key ? state : { key, version, ...nothing };
  const walk = useRef<{ pages: AsyncGenerator<Page<Item>, void>; signal: AbortSignal }>(undefined);
  const openNow = useEffectEvent(open);
  const lengthNow = useEffectEvent(() => shown.items.length);

  /** Loads more items, up to `length` in all, and shows them after the items in `before`. */
  const advance = async (before: Item[], length: number) => {
    const { pages, signal } = walk.current ?? {};
    if (!pages || !signal) return;
    const items = [...before];
    let next: State<Item>;
    try {
      let total: number | undefined;
      let isDone = false;
      do {
        const { value, done } = await pages.next();
        items.push(...(value?.items ?? []));
        total = value?.total ?? total;
        isDone = done === true || value.cursor === undefined;
      } while (!isDone && items.length < length);
      next = { key, version, items, total, isDone, isLoading: false, error: undefined };
    } catch (error) {
      next = { ...shown, version, isLoading: false, isDone: true, error };
    }
    if (!signal.aborted) setState(next);
  };
  const start = useEffectEvent(() => void advance([], lengthNow()));

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new version starts the walk again.
  useEffect(() => {
    const controller = new AbortController();
    walk.current = { pages: openNow(controller.signal).pages(), signal: controller.signal };
    start();
    return () => controller.abort();
  }, [key, version]);

  const loadMore = () => {
    setState({ ...shown, isLoading: true });
    void advance(shown.items, shown.items.length + 1);
  };
  const { items, total, isLoading, error } = shown;
  // While the list is loaded again, `loadMore` must not take a page from the new walk, because that page would then be missing
  // in the new list.
  const isReloading = shown.version !== version;
  const isWaiting = shown.isDone || isLoading || isReloading;
  return { items, total, isLoading, error, loadMore: isWaiting ? undefined : loadMore };
}
