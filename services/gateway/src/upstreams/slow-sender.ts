import type { IncomingMessage } from 'node:http';

/**
 * Watches the body of an upload while it arrives. Calls `onIdle` if the sender has sent nothing for `idleMs`. `isHeld()` returns
 * true while the receiver itself holds the sender back. Such a time does not count as idle. Calls `onWhole` soon after the whole
 * body has arrived, even if the receiver does not take it.
 * @returns A function that ends the watch.
 */
export function watchSender(
  request: IncomingMessage,
  { idleMs, isHeld, onIdle, onWhole }: { idleMs: number; isHeld(): boolean; onIdle(): void; onWhole(): void },
): () => void {
  let seen = request.socket.bytesRead;
  let movedAt = performance.now();
  const timer = setInterval(
    () => {
      if (request.complete) {
        clearInterval(timer);
        return onWhole();
      }
      const { bytesRead } = request.socket;
      if (bytesRead !== seen || isHeld()) {
        seen = bytesRead;
        movedAt = performance.now();
      } else if (performance.now() - movedAt >= idleMs) {
        clearInterval(timer);
        onIdle();
      }
    },
    Math.max(10, Math.min(1_000, idleMs / 4)),
  );
  timer.unref();
  return () => clearInterval(timer);
}
