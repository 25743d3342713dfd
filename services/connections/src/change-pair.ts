import { untilMade } from '@kith/base';
import type { EventEnvelope } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { Pair } from './pair.ts';

/**
 * Changes a pair: reads it, asks `next` for its new state, stores that with its event, and tries again when somebody else was
 * faster, until the deadline (Unix ms). Stores nothing when `next` returns `null`; rethrows what `next` throws.
 */
export function changePair(
  app: Pick<AppContext, 'store' | 'relay'>,
  read: () => Promise<Pair>,
  next: (before: Pair, at: Date) => { after: Pair; event: EventEnvelope } | null,
  deadline?: number,
): Promise<void> {
  const attempt = async () => {
    const before = await read();
    const step = next(before, new Date());
    if (!step) return { result: undefined };
    if (!(await app.store.change(before, step.after, step.event))) return undefined;
    app.relay.kick();
    return { result: undefined };
  };
  return untilMade(attempt, { deadline });
}
