import { type ReactNode, useCallback, useState } from 'react';
import { ProofContext } from '../hooks/use-proof.ts';
import { ProofDialog } from './proof-dialog.tsx';

/** Asks the signed-in user for a proof of identity, in a dialog over its children, when one of them needs it. */
export function ProofProvider({ children }: { children: ReactNode }) {
  const [asking, setAsking] = useState<PromiseWithResolvers<void>>();
  const prove = useCallback(() => {
    const asked = Promise.withResolvers<void>();
    setAsking(asked);
    return asked.promise;
  }, []);
  const close = () => {
    // After a proof this has no effect.
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
