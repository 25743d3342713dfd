import { createContext, use } from 'react';
import type { Person } from '../lib/people.ts';

/** A short message that goes away by itself. */
export interface Toast {
  id: number;
  text: string;
  tone?: 'problem';
  /** The person whom the message is about. */
  person?: Person;
  href?: string;
}

export interface Toasts {
  show(toast: Omit<Toast, 'id'>): void;
}

export const ToastContext = createContext<Toasts | undefined>(undefined);

/** Returns the functions that show short messages. */
export function useToasts(): Toasts {
  const toasts = use(ToastContext);
  if (!toasts) throw new Error('useToasts needs a ToastProvider above it.');
  return toasts;
}
