import type { EventEnvelope } from '@kith/contracts';
import type { AppContext } from './app.ts';
import type { Pair } from './pair.ts';

/** Lost races a change bears: each one means that somebody else has got something done. */
const attempts = 10;

/**
 * Changes a pair: reads it, asks what is to become of it, stores that with its event, and does so again when somebody
 * else was faster. Nothing is stored where `next` gives `null`; what it throws is thrown.
 */
export async function changePair(
  app: Pick<AppContext, 'store' | 'relay'>,
  read: () => Promise<Pair>,
  next: (before: Pair, at: Date) => { after: Pair; event: EventEnvelope } | null,
): Promise<void> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await read();
    const step = next(before, new Date());
    if (!step) return;
    if (await app.store.change(before, step.after, step.event)) {
      app.relay.kick();
      return;
    }
  }
  throw new Error(`The pair went on ${attempts} times while it was to be changed.`);
}
