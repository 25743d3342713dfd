import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

/** The part of a class of the driver that is used here. The driver does not export this class. */
interface DriverConnection {
  readonly socket: Socket;
  onClose(): void;
}

const { Connection } = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
  Connection: { prototype: DriverConnection };
};
const { onClose } = Connection.prototype;

/**
 * Ends a command that was written to a socket which the server had just closed. The socket is destroyed some callbacks before
 * its `close` event. A write between these two moments returns `false`. The driver (7.9) then waits for `drain` or `error`, but
 * neither event ever comes. After a restart of the server, even the driver's monitor can wait in this way for ever. Then
 * nothing checks whether the server is back (docs/adr/0029).
 */
Connection.prototype.onClose = function () {
  onClose.call(this);
  // The connection itself listens for `error` too, so this error is never thrown.
  this.socket.emit('error', new Error('closed'));
};
