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
  let seen = request.socket.bytesRead;
  let movedAt = performance.now();
  let heldAt: number | undefined;
  const timer = setInterval(
    () => {
      if (request.complete) {
        clearInterval(timer);
        return onWhole();
      }
      const { bytesRead } = request.socket;
      const now = performance.now();
      const hasMoved = bytesRead !== seen;
      heldAt = isHeld() && !hasMoved ? (heldAt ?? now) : undefined;
      if (hasMoved || heldAt !== undefined) {
        seen = bytesRead;
        movedAt = now;
      }
      if (now - movedAt >= idleMs) {
        clearInterval(timer);
        onIdle();
      } else if (heldAt !== undefined && now - heldAt >= stuckMs) {
        clearInterval(timer);
        onStuck();
      }
    },
    Math.max(10, Math.min(1_000, idleMs / 4, stuckMs / 4)),
  );
  timer.unref();
  return () => clearInterval(timer);
}
