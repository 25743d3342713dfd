import { untilMade } from '@kith/base';
import type { EventEnvelope } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { Pair } from './pair.ts';

/**
 * Changes a pair: reads it, asks what is to become of it, stores that with its event, and does so again when somebody
 * else was faster, until the deadline (Unix ms). Nothing is stored where `next` gives `null`; what it throws is thrown.
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
