import type { IncomingMessage } from 'node:http';

/**
 * Watches the body of an upload while it arrives.
 * @param of.isHeld Returns true while the receiver itself holds the sender back. This time does not count as idle.
 * @param of.onIdle Called if the sender has sent nothing for `idleMs`.
 * @param of.onStuck Called if the receiver has held the sender back and taken nothing for `stuckMs`.
 * @param of.onWhole Called soon after the whole body has arrived, even if the receiver does not take it.
 * @returns A function that ends the watch.
 */
export function watchSender(
  request: IncomingMessage,
  {
    idleMs,
    stuckMs,
    isHeld,
    onIdle,
    onStuck,
    onWhole,
  }: {
    idleMs: number;
    stuckMs: number;
    isHeld(): boolean;
    onIdle(): void;
    onStuck(): void;
    onWhole(): void;
  },
): () => void {
  const everyMs = Math.max(10, Math.min(1_000, idleMs / 4, stuckMs / 4));
  let seen = request.socket.bytesRead;
  // These are numbers of checks, not ms. A process that was stopped for a while has not yet read what has arrived meanwhile. It
  // reads this before its second check.
  let idleChecks = 0;
  let heldChecks = 0;
  const timer = setInterval(() => {
    if (request.complete) {
      clearInterval(timer);
      return onWhole();
    }
    const { bytesRead } = request.socket;
    const hasMoved = bytesRead !== seen;
    seen = bytesRead;
    heldChecks = isHeld() && !hasMoved ? heldChecks + 1 : 0;
    idleChecks = hasMoved || heldChecks > 0 ? 0 : idleChecks + 1;
    if (idleChecks * everyMs >= idleMs) {
      clearInterval(timer);
      onIdle();
    } else if (heldChecks * everyMs >= stuckMs) {
      clearInterval(timer);
      onStuck();
    }
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
