import { useKith } from './use-kith.ts';
import { useQuery } from './use-query.ts';

/** The signed-in user's second factors. */
export function useFactors() {
  const kith = useKith();
  return useQuery('factors', 'factors', (signal) => kith.auth.listFactors({ signal }));
}
