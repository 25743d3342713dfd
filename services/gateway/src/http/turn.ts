import type { HttpResponse } from './exchange.ts';

/**
 * Waits until the earlier answers on the connection have ended. Until then, the client cannot read this answer. The wait may be
 * long. If a long answer began before its turn, it would use resources during all this time, such as buffers, a connection to
 * storage or a place among the user's open streams. Returns `false` if the client has disconnected.
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
    // When a connection closes, Node emits `close` only on the answer that is using the connection, not on the answers that
    // wait. So this function also listens on the connection.
    response.once('socket', settle).once('close', settle);
    socket.once('close', settle);
  });
}
