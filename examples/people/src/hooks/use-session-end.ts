import { useEffect } from 'react';
import { sentenceOf } from '../lib/sentences.ts';
import { useKith } from './use-kith.ts';
import { useToasts } from './use-toasts.ts';

/** If the platform ends the session without a sign-out, shows the reason. */
export function useSessionEnd(): void {
  const kith = useKith();
  const { show } = useToasts();
  useEffect(
    () =>
      kith.onSession((_, { reason, error }) => {
        if (reason === 'ended') show({ text: sentenceOf(error), tone: 'problem' });
      }),
    [kith, show],
  );
}
