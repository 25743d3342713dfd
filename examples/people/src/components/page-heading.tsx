import { type ReactNode, useEffect, useRef } from 'react';
import { useNotifications } from '../hooks/use-notifications.ts';

let isFirstPage = true;

/** The heading of a page. After a change of page it gets the focus, so that screen readers begin with it. */
export function PageHeading({ title, children }: { title: string; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const { unread } = useNotifications();
  useEffect(() => {
    if (!isFirstPage) heading.current?.focus({ preventScroll: true });
    isFirstPage = false;
    scrollTo(0, 0);
  }, []);
  return (
    <div className="page-heading">
      <title>{`${unread > 0 ? `(${unread}) ` : ''}${title} · People`}</title>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </div>
  );
}
