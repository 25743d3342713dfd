import type { Bus } from '../bus/bus.ts';
import type { Outbox } from './outbox.ts';

interface Parts {
  bus: Bus;
  outbox: Outbox;
}

/**
 * Compares the marks of published events with the log they were published to, and takes those back whose events the log has
 * lost: all of them if it is another log, else those above the last one that is still there (docs/adr/0027).
 * @param own The highest position this process has marked lately: a mark that was written late may hide below newer ones.
 * @returns The position above which marks were taken back; `undefined` when nothing was lost.
 */
export async function takeBackLost(parts: Parts, own?: number): Promise<number | undefined> {
  const { bus, outbox } = parts;
  const { created } = await bus.log();
  const marked = await outbox.fact('log');
  const isOther = marked !== undefined && marked.created !== created;
  let lostAfter = isOther ? 0 : marked?.lostAfter;
  lostAfter ??= await findLoss(parts);
  if (own !== undefined) lostAfter ??= await findLoss(parts, own + 1);
  // Noted before it is begun: what is published meanwhile would hide what is left to be taken back.
  if (!marked || lostAfter !== undefined) await outbox.noteFact('log', { created, lostAfter });
  if (lostAfter === undefined) return undefined;
  await outbox.unpublish(lostAfter);
  await outbox.noteFact('log', { created });
  return lostAfter;
}

/** Finds the highest marked position below `below` that the log still has, if it has lost any above that. */
async function findLoss({ bus, outbox }: Parts, below?: number): Promise<number | undefined> {
  for (let from = below, isLost = false; ; ) {
    const newest = await outbox.newest(from);
    if (!newest) return isLost ? 0 : undefined;
    const { position, ids } = newest;
    const id = await bus.idAt(position);
    if (id !== undefined && ids.includes(id)) return isLost ? position : undefined;
    from = position;
    if (id !== undefined) {
      isLost = true;
      continue;
    }
    const { first, last } = await bus.log();
    if (position > last) {
      isLost = true;
      from = last + 1;
    } else if (position < first) {
      // It has expired, and so have those below it.
      return isLost ? position : undefined;
    }
    // Else it was withdrawn, which tells nothing.
  }
}
