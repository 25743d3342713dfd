import type { EventRange, EventSearch, Outbox } from '@kith/store';

/**
 * How long the horizon of a search is remembered, in ms. No service looks for the late events of a user for longer than this.
 */
const rememberMs = 6 * 60 * 60_000;

/**
 * For each outbox, a map from the range of a successful search to its horizon (`Outbox.horizon`). The newest horizon comes
 * last.
 */
const horizons = new WeakMap<Outbox, Map<string, number>>();

/**
 * Searches for published events of a user. Such a search is repeated, because events may arrive late. Only the first search of
 * a process goes through all events of the range. A later search goes only through the events that were published since the
 * previous search. If a search fails, the next call repeats the same search.
 */
export async function searchLate(
  outbox: Outbox,
  range: EventRange,
  search: (search: EventSearch) => Promise<void>,
): Promise<void> {
  const known = horizons.get(outbox) ?? new Map<string, number>();
  horizons.set(outbox, known);
  const name = JSON.stringify(range);
  const horizon = await outbox.horizon();
  await search({ ...range, since: known.get(name) });
  known.delete(name);
  known.set(name, horizon);
  for (const [old, at] of known) {
    if (at > Date.now() - rememberMs) break;
    known.delete(old);
  }
}
