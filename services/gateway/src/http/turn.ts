import type { HttpResponse } from './exchange.ts';

/**
 * Waits until the earlier answers on the connection have ended. Until then, nobody reads this answer, and nothing limits for how
 * long. A long answer would hold buffers, a connection to storage, or the place of a stream meanwhile. Returns `false` if the client
 * has gone.
 */
export async function hasItsTurn(response: HttpResponse): Promise<boolean> {
  const { socket } = response.req;
  const isGone = () => response.destroyed || socket.destroyed;
  if (response.socket || isGone()) return !isGone();
  // Every request that waits on this connection listens to it.
  socket.setMaxListeners(0);
  return new Promise((resolve) => {
    const settle = () => {
      response.off('socket', settle).off('close', settle);
      socket.off('close', settle);
      resolve(!isGone());
    };
    // When a connection closes, Node tells only the answer that has it, and none that wait.
    response.once('socket', settle).once('close', settle);
    socket.once('close', settle);
  });
}
