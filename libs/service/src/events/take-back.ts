import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Bus } from '@kith/bus';
import type { Outbox } from '@kith/store';

interface Parts {
  bus: Bus;
  outbox: Outbox;
}

/** How many positions one step searches or takes back. */
const window = 1_000;

/**
 * Compares the marks of published events with the log to which they were published. Takes back the marks of events that the log
 * has lost (docs/adr/0027). If a new log has replaced that log, takes back all marks. Otherwise, finds the last marked event
 * that the log still has, and takes back all marks with a higher position.
 * @returns The position above which marks were taken back; `undefined` if nothing was lost.
 */
export async function takeBackLost(parts: Parts): Promise<number | undefined> {
  const { bus, outbox } = parts;
  const { created } = await bus.log();
  const marked = await outbox.fact('log');
  const highest = marked?.highest ?? 0;
  const top = (await outbox.newest(highest))?.position ?? highest;
  const isOther = marked !== undefined && marked.created !== created;
  const lostAfter = isOther ? 0 : (marked?.lostAfter ?? (await findLoss(parts, top)));
  if (lostAfter === undefined) {
    if (!marked || top !== highest) await outbox.noteFact('log', { created, highest: top });
    return undefined;
  }
  // The loss is noted before any mark is taken back. If this process dies halfway, the next process finds the note and
  // continues. Without the note, `findLoss` would stop at events that were published in the meantime, and not reach the
  // remaining marks.
  await outbox.noteFact('log', { created, highest: top, lostAfter });
  // Goes downwards from mark to mark. Positions count the events of all services since the log began, so most positions have no
  // mark.
  for (let below = top + 1; ; ) {
    const mark = await outbox.newest(lostAfter, below);
    if (!mark) break;
    const after = Math.max(mark.position - window, lostAfter);
    await outbox.unpublish(after, mark.position);
    below = after + 1;
    // In the embedded form, the awaits above do not yield to the event loop. This pause lets the process handle requests.
    await nextTurn();
  }
  await outbox.noteFact('log', { created, highest: lostAfter });
  return lostAfter;
}

/**
 * Finds the position above which the log has lost marked events. Searches from the position `from` downwards. Returns 0 if the
 * log has lost all marked events, and `undefined` if it has lost no marked event.
 */
async function findLoss({ bus, outbox }: Parts, from: number): Promise<number | undefined> {
  let isLost = false;
  let log: Awaited<ReturnType<Bus['log']>> | undefined;
  for (let below = from + 1, width = window; below > 1; ) {
    // Many marks may belong to withdrawn events, so this loop may be long. In the embedded form, the awaits below do not yield
    // to the event loop. This pause lets the process handle requests.
    await nextTurn();
    const above = Math.max(below - 1 - width, 0);
    const newest = await outbox.newest(above, below);
    if (!newest) {
      below = above + 1;
      width *= 2;
      continue;
    }
    const { position } = newest;
    const id = await bus.idAt(position);
    if (id === newest.id) return isLost ? position : undefined;
    below = position;
    if (id !== undefined) {
      isLost = true;
      continue;
    }
    log ??= await bus.log();
    const { first, last } = log;
    if (position > last) {
      isLost = true;
      below = last + 1;
    } else if (position < first) {
      // The log has dropped this event because of its age, so the event is not lost. The same is true for all events at lower
      // positions.
      return isLost ? position : undefined;
    }
    // The position lies within the log, but the log has no event there. So the event was withdrawn. A withdrawn event does not
    // show whether other events are lost, so the search goes on.
  }
  return isLost ? 0 : undefined;
}
