import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import { type Toast, ToastContext, type Toasts } from '../hooks/use-toasts.ts';
import { ToastView } from './toast-view.tsx';

const most = 3;

/** Shows short messages over its children. Screen readers read the messages aloud. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const count = useRef(0);
  const value = useMemo<Toasts>(
    () => ({
      show: (toast) => setToasts((before) => [...before, { ...toast, id: ++count.current }].slice(-most)),
    }),
    [],
  );
  const dismiss = useCallback(
    (id: number) => setToasts((before) => before.filter((toast) => toast.id !== id)),
    [],
  );
  return (
    <ToastContext value={value}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map((toast) => (
          <ToastView key={toast.id} toast={toast} onDismiss={dismiss} />
        ))}
      </div>
    </ToastContext>
  );
}
