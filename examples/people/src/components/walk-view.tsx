import type { ReactNode } from 'react';
import type { Walk } from '../hooks/use-list.ts';
import type { Topic } from '../lib/changes.ts';
import { MoreSentinel } from './more-sentinel.tsx';
import { Problem } from './problem.tsx';
import { Skeleton } from './skeleton.tsx';

/** Shows a list, and loads more items when its end comes into view. */
export function WalkView<Item>(props: {
  walk: Walk<Item>;
  topic: Topic;
  label: string;
  /** What to show if the list has no items. */
  empty: ReactNode;
  /** Renders one item, as an `li`. */
  children(item: Item): ReactNode;
}) {
  const { items, isLoading, error, loadMore } = props.walk;
  const isEmpty = items.length === 0;
  return (
    <>
      {!isEmpty && (
        <ul className="cards" aria-label={props.label} aria-busy={isLoading}>
          {items.map(props.children)}
        </ul>
      )}
      {isEmpty && !isLoading && error === undefined && props.empty}
      {isLoading && <Skeleton count={isEmpty ? 3 : 1} />}
      {error !== undefined && <Problem error={error} topic={props.topic} />}
      {loadMore && <MoreSentinel onReached={loadMore} />}
    </>
  );
}
