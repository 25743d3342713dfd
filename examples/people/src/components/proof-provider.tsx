import { type ReactNode, useCallback, useState } from 'react';
import { ProofContext } from '../hooks/use-proof.ts';
import { ProofDialog } from './proof-dialog.tsx';

/** If one of its children needs a proof of identity, asks the signed-in user for the proof in a dialog. */
export function ProofProvider({ children }: { children: ReactNode }) {
  const [asking, setAsking] = useState<PromiseWithResolvers<void>>();
  const prove = useCallback(() => {
    const asked = Promise.withResolvers<void>();
    setAsking(asked);
    return asked.promise;
  }, []);
  const close = () => {
    // If the user has given a proof, this has no effect.
    asking?.reject(new DOMException('The user has not proved themselves.', 'AbortError'));
    setAsking(undefined);
  };
  return (
    <ProofContext value={prove}>
      {children}
      {asking && <ProofDialog onProved={() => asking.resolve()} onClose={close} />}
    </ProofContext>
  );
}
