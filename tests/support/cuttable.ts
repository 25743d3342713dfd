import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP way to a server that can be cut and mended. */
export interface Cuttable extends AsyncDisposable {
  /** `host:port`. */
  address: string;
  /** Ends every connection and refuses new ones. */
  cut(): void;
  mend(): void;
}

export async function cuttable(target: URL): Promise<Cuttable> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer((client) => {
    if (isCut) return client.destroy();
    const server = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      end();
    },
    mend() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      end();
    },
  };
}
