import { useEffect, useEffectEvent, useRef } from 'react';
import { Button } from './button.tsx';

/**
 * Marks the end of a list, and calls `onReached` when the end comes near the screen. It is also a button, for people who do not
 * scroll.
 */
export function MoreSentinel({ onReached }: { onReached(): void }) {
  const end = useRef<HTMLDivElement>(null);
  const reached = useEffectEvent(onReached);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && reached(), {
      rootMargin: '300px',
    });
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={end} className="more">
      <Button look="quiet" onClick={onReached}>
        Show more
      </Button>
    </div>
  );
}
