const tickMs = 250;
/** If the event loop of a process did not turn for this long, in ms, the process was frozen or almost frozen. */
const awayMs = 1_000;
/** When a frozen process runs again, it needs at most this time to read the messages that waited in its sockets, in ms. */
const catchUpMs = 1_000;

let tickedAt: number | undefined;
/** The process was away after `since`. If it reads a message before `until`, the message counts as received at `since`. */
let away = { since: 0, until: 0 };

/** Begins to watch whether this process is away: stopped, paused with its container, or starved. Repeatable. */
export function watchAbsence(): void {
  if (tickedAt !== undefined) return;
  tickedAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    const since = tickedAt ?? now;
    // Perhaps messages that came in during an earlier absence are not read yet. They may have waited since that absence began.
    if (now - since > awayMs) away = { since: now < away.until ? away.since : since, until: now + catchUpMs };
    tickedAt = now;
  }, tickMs).unref();
}

/**
 * A message that is read now may have come in earlier. Returns the earliest time at which it may have come in, in Unix ms. A
 * process that was away finds messages that have waited for it. Their senders may have gone on long ago. If the process worked on
 * these messages as if they were new, an old change could undo a later change that was acknowledged.
 */
export function receivedAt(): number {
  const now = performance.now();
  if (tickedAt !== undefined && now - tickedAt > awayMs) return Math.floor(Date.now() - (now - tickedAt));
  if (now < away.until) return Math.floor(Date.now() - (now - away.since));
  return Date.now();
}
