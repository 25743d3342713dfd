import { isKithError } from '@kith/client';
import { createContext, use } from 'react';

/** Has the user prove that it is them; rejects when they decline. */
export type Prove = () => Promise<void>;

export const ProofContext = createContext<Prove | undefined>(undefined);

/** Gives what runs an action, and has the user prove themselves first where the platform asks for it. */
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
