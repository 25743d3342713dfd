import { untilMade } from '@kith/base';
import type { EventEnvelope } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { Pair } from './pair.ts';

/**
 * Changes a pair: reads the pair, asks `next` for the new state, and stores this state with its event. If the pair was changed
 * in between, tries again until the deadline (Unix ms). If `next` returns `null`, stores nothing, and only makes sure that
 * later reads show the pair's last change. Throws whatever `next` throws.
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
    if (!step) {
      await app.store.settle(before);
      return { result: undefined };
    }
    if (!(await app.store.change(before, step.after, step.event))) return undefined;
    app.relay.kick();
    return { result: undefined };
  };
  return untilMade(attempt, { deadline });
}
