import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

/** Explains why a list is empty, and what the user can do. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <span className="empty-icon">
        <Icon name={icon} />
      </span>
      <strong>{title}</strong>
      {children && <p className="muted">{children}</p>}
    </div>
  );
}
