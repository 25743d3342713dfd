import type { HttpResponse } from './exchange.ts';

/**
 * Waits until the earlier answers on the connection have ended. Until then, the client cannot read this answer. This may take a
 * long time. If a long answer began before its turn, it would hold buffers, a connection to storage or one of the user's places
 * for streams during all this time. Returns `false` if the client has disconnected.
 */
export async function hasItsTurn(response: HttpResponse): Promise<boolean> {
  const { socket } = response.req;
  const isGone = () => response.destroyed || socket.destroyed;
  if (response.socket || isGone()) return !isGone();
  // Every request that waits on this connection adds a listener, so there may be more listeners than Node expects.
  socket.setMaxListeners(0);
  return new Promise((resolve) => {
    const settle = () => {
      response.off('socket', settle).off('close', settle);
      socket.off('close', settle);
      resolve(!isGone());
    };
    // When a connection closes, Node tells only the answer that is using it, not the answers that wait.
    response.once('socket', settle).once('close', settle);
    socket.once('close', settle);
  });
}
