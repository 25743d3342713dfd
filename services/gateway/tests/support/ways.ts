import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { platform } from 'node:os';
import { socketPath } from '@kith/service';

/** How the gateway reaches a service of files: at a port, or at a Unix socket without a file. */
export const ways: readonly string[] = platform() === 'linux' ? ['port', 'socket'] : ['port'];

/** Listens in one of these ways. Resolves to the address as `UPSTREAMS` names it. */
export async function listenAt(way: string, server: Server): Promise<string> {
  const socket = `@kith-test-${randomUUID()}`;
  if (way === 'port') server.listen(0, '127.0.0.1');
  else server.listen(socketPath(socket));
  await once(server, 'listening');
  return way === 'port' ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : `unix:${socket}`;
}
