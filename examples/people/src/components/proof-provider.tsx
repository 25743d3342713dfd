import { type ReactNode, useCallback, useRef, useState } from 'react';
import { ProofContext } from '../hooks/use-proof.ts';
import { ProofDialog } from './proof-dialog.tsx';

/** If one of its children needs a proof of identity, asks the signed-in user for the proof in a dialog. */
export function ProofProvider({ children }: { children: ReactNode }) {
  const [asking, setAsking] = useState<PromiseWithResolvers<void>>();
  const asked = useRef<PromiseWithResolvers<void>>(undefined);
  const prove = useCallback(() => {
    // Two actions can need a proof at the same time. One proof is enough for both actions.
    asked.current ??= Promise.withResolvers<void>();
    setAsking(asked.current);
    return asked.current.promise;
  }, []);
  const close = () => {
    // If the user has given a proof, the promise is already resolved, and rejecting it has no effect.
    asking?.reject(new DOMException('The user has not proved themselves.', 'AbortError'));
    // The next dialog may already be open when a previous dialog calls `close`. This call must not close the next dialog.
    if (asked.current !== asking) return;
    asked.current = undefined;
    setAsking(undefined);
  };
  return (
    <ProofContext value={prove}>
      {children}
      {asking && <ProofDialog onProved={() => asking.resolve()} onClose={close} />}
    </ProofContext>
  );
}
