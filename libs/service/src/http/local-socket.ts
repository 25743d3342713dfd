import { rm } from 'node:fs/promises';
import { connect } from 'node:net';

/** How Node is told of a Unix socket: by the path of its file, or, for `@name` on Linux, by a name that is no file. */
export function socketPath(socket: string): string {
  return socket.startsWith('@') ? `\0${socket.slice(1)}` : socket;
}

/** The Unix socket that an address `unix:<socket>` names. Undefined for other addresses. */
export function socketOf(url: string): string | undefined {
  return url.startsWith('unix:') ? url.slice('unix:'.length) : undefined;
}

/** Removes the file of a socket on which nobody listens. A process that was killed leaves such a file behind. */
export async function removeLeftSocket(socket: string): Promise<void> {
  if (socket.startsWith('@')) return;
  const isLeft = await new Promise<boolean>((resolve) => {
    const probe = connect(socket, () => {
      probe.destroy();
      resolve(false);
    });
    probe.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
  });
  if (isLeft) await rm(socket, { force: true });
}
