import type { Bus } from '@kith/bus';
import { type EventEnvelope, eventSubject } from '@kith/contracts';
import type { EventRange, Outbox, PublishedEvent } from '@kith/store';

const batch = 100;

type Test = (event: EventEnvelope) => boolean;

/** Removes all copies of published events from the bus. The outbox keeps its record of them. */
export function withdrawEvents(bus: Bus, events: readonly PublishedEvent[]): Promise<void> {
  return bus.withdraw(
    events.map(({ event, span }) => ({ subject: eventSubject(bus.prefix, event), id: event.id, span })),
  );
}

/**
 * Erases the published events of a range for which `only` returns true, except the event with the key `keep`. First removes from
 * the bus those for which `withdraw` returns true. Then erases all of them from the outbox. If the process dies in between, the
 * outbox still has the events, and the next run withdraws them again.
 */
export async function eraseEvents(
  parts: { bus: Bus; outbox: Outbox },
  range: EventRange,
  { keep, only = () => true, withdraw = () => true }: { keep?: string; only?: Test; withdraw?: Test } = {},
): Promise<void> {
  const { bus, outbox } = parts;
  for (let from = range.from; ; ) {
    const found = await outbox.published({ ...range, from }, batch);
    const erased = found.filter(({ key, event }) => key !== keep && only(event));
    await withdrawEvents(
      bus,
      erased.filter(({ event }) => withdraw(event)),
    );
    if (erased.length > 0) await outbox.forget(erased.map(({ key }) => key));
    const last = found.at(-1);
    if (!last || found.length < batch) return;
    from = last.key;
  }
}
