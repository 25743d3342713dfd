import { isKithError } from '@kith/client';
import { createContext, use } from 'react';

/** Asks the user for a proof of identity. The promise rejects if the user closes the dialog without a proof. */
export type Prove = () => Promise<void>;

export const ProofContext = createContext<Prove | undefined>(undefined);

/** Returns a function that runs an action. If the platform requires a proof, the function first asks the user for it. */
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
