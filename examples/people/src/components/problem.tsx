import { announceHere, type Topic } from '../lib/changes.ts';
import { sentenceOf } from '../lib/sentences.ts';
import { Button } from './button.tsx';

/** Shows why data could not be loaded, with a button to try again. */
export function Problem({ error, topic }: { error: unknown; topic: Topic }) {
  return (
    <div className="problem" role="alert">
      <span>{sentenceOf(error)}</span>
      <Button onClick={() => announceHere(topic)}>Try again</Button>
    </div>
  );
}
