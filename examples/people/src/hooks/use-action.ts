import { useState } from 'react';
import { sentenceOf } from '../lib/sentences.ts';
import { useToasts } from './use-toasts.ts';

/** Runs the action of a button, and shows a toast if it fails. `isBusy` is true while the action runs. */
export function useAction<Words extends unknown[]>(
  act: (...words: Words) => Promise<void>,
): { run: (...words: Words) => Promise<void>; isBusy: boolean } {
  const { show } = useToasts();
  const [running, setRunning] = useState(0);
  const run = async (...words: Words) => {
    setRunning((count) => count + 1);
    try {
      await act(...words);
    } catch (error) {
      show({ text: sentenceOf(error), tone: 'problem' });
    } finally {
      setRunning((count) => count - 1);
    }
  };
  return { run, isBusy: running > 0 };
}
