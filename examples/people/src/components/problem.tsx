import { announceHere, type Topic } from '../lib/changes.ts';
import { sentenceOf } from '../lib/sentences.ts';
import { Button } from './button.tsx';

/** Shows why data could not be loaded, with a button to try again. */
export function Problem(props: {
  error: unknown;
  topic: Topic;
  /** Whether it is shown in a row of a list. If so, it is no alert, because all rows of the list may have the same problem. */
  isCompact?: boolean;
}) {
  const { error, topic, isCompact = false } = props;
  return (
    <div className={`problem${isCompact ? ' compact' : ''}`} role={isCompact ? undefined : 'alert'}>
      <span>{sentenceOf(error)}</span>
      <Button onClick={() => announceHere(topic)}>Try again</Button>
    </div>
  );
}
