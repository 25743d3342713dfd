const tickMs = 250;
/** If the event loop of a process does not turn for this long, in ms, the process counts as frozen. */
const awayMs = 1_000;
/** A process that runs again after a freeze needs at most this long to read the messages that waited in its sockets, in ms. */
const catchUpMs = 1_000;

let tickedAt: number | undefined;
/**
 * `since` is the time at which the last freeze of the process began. If several freezes followed each other closely, `since` is
 * the beginning of the first of them. A message that the process reads before `until` counts as received at `since`.
 */
let away = { since: 0, until: 0 };

/** Starts to detect whether this process is frozen: stopped, paused with its container, or without CPU time. Repeatable. */
export function watchAbsence(): void {
  if (tickedAt !== undefined) return;
  tickedAt = performance.now();
  setInterval(() => {
    const now = performance.now();
    const since = tickedAt ?? now;
    // If messages of an earlier freeze may still be unread, the beginning of that freeze is kept, because they may have waited
    // since then.
    if (now - since > awayMs) away = { since: now < away.until ? away.since : since, until: now + catchUpMs };
    tickedAt = now;
  }, tickMs).unref();
}

/**
 * Returns the earliest time at which a message that is read now may have arrived, in Unix ms. After a freeze, a process reads
 * messages that have waited for it, and their senders may have given up long ago. If the process treated these messages as new,
 * an old change could undo a later change that was acknowledged.
 */
export function receivedAt(): number {
  const now = performance.now();
  if (tickedAt !== undefined && now - tickedAt > awayMs) return Math.floor(Date.now() - (now - tickedAt));
  if (now < away.until) return Math.floor(Date.now() - (now - away.since));
  return Date.now();
}
