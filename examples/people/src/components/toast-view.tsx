import { useEffect } from 'react';
import type { Toast } from '../hooks/use-toasts.ts';
import { Avatar } from './avatar.tsx';
import { Button } from './button.tsx';

const shownMs = 7_000;

/** One short message, with a link to its subject. */
export function ToastView({ toast, onDismiss }: { toast: Toast; onDismiss(id: number): void }) {
  useEffect(() => {
    const timer = setTimeout(() => onDismiss(toast.id), shownMs);
    return () => clearTimeout(timer);
  }, [toast.id, onDismiss]);
  return (
    <div className={`toast ${toast.tone ?? ''}`}>
      {toast.person && <Avatar person={toast.person} size="s" />}
      {toast.href ? (
        <a className="toast-text" href={toast.href} onClick={() => onDismiss(toast.id)}>
          {toast.text}
        </a>
      ) : (
        <span className="toast-text">{toast.text}</span>
      )}
      <Button look="quiet" icon="close" iconOnly aria-label="Dismiss" onClick={() => onDismiss(toast.id)} />
    </div>
  );
}
