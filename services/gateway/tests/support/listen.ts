import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Listens on a free port of 127.0.0.1. Resolves to the address in the form that `UPSTREAMS` uses. */
export async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
