const tickMs = 250;
/** A process whose loop did not turn for so long was frozen, or as good as that. */
const awayMs = 1_000;
/** What has waited in its sockets meanwhile is read within this time. */
const catchUpMs = 1_000;

let tickedAt: number | undefined;
/** The last turn before the process was away; what it reads until then counts as of that time. */
let away = { since: 0, until: 0 };

/** Begins to watch whether this process is away: stopped, paused with its container, or starved. Repeatable. */
export function watchAbsence(): void {
  if (tickedAt !== undefined) return;
  tickedAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    const since = tickedAt ?? now;
    // What waited through one absence and is not read yet has waited through the next one, too.
    if (now - since > awayMs) away = { since: now < away.until ? away.since : since, until: now + catchUpMs };
    tickedAt = now;
  }, tickMs).unref();
}

/**
 * Unix time in ms at which a message that is read now may have come in at the earliest. A process that was away finds messages
 * that have waited for it, and whose senders may have gone on long ago: worked on as if they were new, an old change would
 * undo a later one that was acknowledged.
 */
export function receivedAt(): number {
  const now = performance.now();
  if (tickedAt !== undefined && now - tickedAt > awayMs) return Math.floor(Date.now() - (now - tickedAt));
  if (now < away.until) return Math.floor(Date.now() - (now - away.since));
  return Date.now();
}
