import { isKithError } from '@kith/client';
import { createContext, use } from 'react';

/** Asks the user for a proof of identity; rejects if they decline. */
export type Prove = () => Promise<void>;

export const ProofContext = createContext<Prove | undefined>(undefined);

/** Gives a function that runs an action, and that asks the user for a proof first if the platform requires it. */
export function useProof(): <Result>(act: () => PromiseLike<Result>) => Promise<Result> {
  const prove = use(ProofContext);
  if (!prove) throw new Error('useProof needs a ProofProvider above it.');
  return async (act) => {
    try {
      return await act();
    } catch (error) {
      if (!isKithError(error, 'auth/step-up-required')) throw error;
      await prove();
      return act();
    }
  };
}
