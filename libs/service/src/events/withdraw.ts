import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Bus, OutgoingEvent, Withdrawal } from '@kith/bus';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import { type EventRange, type EventSearch, eventKey, type Outbox, type PublishedEvent } from '@kith/store';

const batch = 100;
/** How many dead letters are read at the same time. */
const lettersAtOnce = 16;

type Test = (event: EventEnvelope) => boolean;

/** Removes all copies of published events from the bus. The outbox keeps its record of them. */
export function withdrawEvents(bus: Bus, events: readonly PublishedEvent[]): Promise<void> {
  return bus.withdraw(
    events.map(({ event, span }) => ({ subject: eventSubject(bus.prefix, event), id: event.id, span })),
  );
}

/**
 * Selects the published events of a range if `only` returns true for them, and erases them. The event with the key `keep`
 * stays. First removes the selected events from the bus if `withdraw` returns true for them. Then erases all selected events
 * from the outbox. If the process dies in between, the outbox still has the events, and the next run withdraws them again.
 * Finally, removes the dead letters of older events, of which the outbox has no record any more.
 */
export async function eraseEvents(
  parts: { bus: Bus; outbox: Outbox },
  range: EventSearch,
  { keep, only = () => true, withdraw = () => true }: { keep?: string; only?: Test; withdraw?: Test } = {},
): Promise<void> {
  const { bus, outbox } = parts;
  let kept: string | undefined;
  for (let from = range.from; ; ) {
    const found = await outbox.published({ ...range, from }, batch);
    kept ??= found.find(({ key }) => key === keep)?.event.id;
    const erased = found.filter(({ key, event }) => key !== keep && only(event));
    await withdrawEvents(
      bus,
      erased.filter(({ event }) => withdraw(event)),
    );
    if (erased.length > 0) await outbox.forget(erased.map(({ key }) => key));
    // In the embedded form, the awaits above do not yield to the event loop. This pause lets the process handle requests.
    await nextTurn();
    const last = found.at(-1);
    if (!last || found.length < batch) break;
    from = last.key;
  }
  await withdrawLetters(bus, range, (event) => event.id !== kept && only(event) && withdraw(event));
}

/** For each bus, a map from the ids of the events that have dead letters to the keys of these events. */
const knownKeys = new WeakMap<Bus, ReadonlyMap<string, string>>();
/**
 * A span without positions. With this span, the log is not searched for an event's first copy. The search is not needed: when
 * the outbox drops its record of an event, the log has dropped the event already.
 */
const nowhere = { first: 0, last: 0 };

/**
 * Looks at the events of a range that have dead letters. If `test` returns true for an event, removes the event's dead letters,
 * and the copies of the event that were made when a letter was replayed. Dead letters are kept for 90 days, but the outbox
 * drops its record of an event after 7 days. So this function cannot rely on the outbox and reads the letters themselves. It is
 * called often, so the process remembers the keys of letters, and reads a letter again only if its key is in the range.
 */
export async function withdrawLetters(bus: Bus, range: EventRange, test: Test): Promise<void> {
  const { from, to, telling = '' } = range;
  const keys = await keysOfLetters(bus);
  const gone: Withdrawal[] = [];
  for (const [id, key] of keys) {
    if (key <= from || key >= to) continue;
    const letter = await bus.deadEvent(id);
    if (!letter) continue;
    const text = new TextDecoder().decode(letter.body);
    if (text.includes(telling) && test(JSON.parse(text)))
      gone.push({ subject: letter.subject, id, span: nowhere });
  }
  if (gone.length > 0) await bus.withdraw(gone);
}

async function keysOfLetters(bus: Bus): Promise<ReadonlyMap<string, string>> {
  const known = knownKeys.get(bus);
  const keys = new Map<string, string>();
  const look = async (id: string) => {
    const key = known?.get(id) ?? keyOf(await bus.deadEvent(id));
    if (key !== undefined) keys.set(id, key);
  };
  const ids = await bus.deadEvents();
  for (let at = 0; at < ids.length; at += lettersAtOnce) {
    await Promise.all(ids.slice(at, at + lettersAtOnce).map(look));
    await nextTurn();
  }
  knownKeys.set(bus, keys);
  return keys;
}

/**
 * The key of a letter's event. An empty text if the letter holds something else. `undefined` if there is no letter any more.
 */
function keyOf(letter: OutgoingEvent | undefined): string | undefined {
  if (!letter) return undefined;
  try {
    return eventKey(JSON.parse(new TextDecoder().decode(letter.body)));
  } catch {
    return '';
  }
}
