import type { KithClient } from '@kith/client';
import { createContext, use } from 'react';

export const KithContext = createContext<KithClient | undefined>(undefined);

/** Returns the client of this application. */
export function useKith(): KithClient {
  const kith = use(KithContext);
  if (!kith) throw new Error('useKith needs a KithContext above it.');
  return kith;
}
