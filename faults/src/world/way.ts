import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Which end of a connection receives nothing from the other end. */
export type Deaf = 'client' | 'server';

/** A TCP proxy from one node to a server. It can cut connections and hold back bytes. */
export interface Way extends AsyncDisposable {
  port: number;
  /** Ends every connection and refuses new ones until `mend`. */
  cut(): void;
  /**
   * Holds back the bytes that are sent to `who`, on existing and on new connections. New connections are still accepted. For
   * `who`, this is as if all packets in this direction were lost.
   */
  deafen(who: Deaf): void;
  /** Passes on all bytes again, first the bytes that were held back. */
  mend(): void;
}

export async function layWay(target: URL): Promise<Way> {
  const pairs = new Set<Record<Deaf, Socket>>();
  let isCut = false;
  let deaf: Deaf | undefined;
  /** Lets the bytes for `who` flow, or makes them wait in the sockets. */
  const flow = ({ client, server }: Record<Deaf, Socket>, who: Deaf, open: boolean) => {
    const [from, to] = who === 'server' ? [client, server] : [server, client];
    if (open) from.pipe(to);
    else from.unpipe(to).pause();
  };
  const proxy = createServer((client) => {
    if (isCut) return client.destroy();
    const server = connect(Number(target.port), target.hostname);
    const pair = { client, server };
    pairs.add(pair);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
    for (const who of ['client', 'server'] as const) flow(pair, who, deaf !== who);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const end = () => {
    for (const { client } of pairs) client.destroy();
  };
  return {
    port: (proxy.address() as AddressInfo).port,
    cut() {
      isCut = true;
      end();
    },
    deafen(who) {
      deaf = who;
      for (const pair of pairs) flow(pair, who, false);
    },
    mend() {
      isCut = false;
      const was = deaf;
      deaf = undefined;
      if (was) for (const pair of pairs) flow(pair, was, true);
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      end();
    },
  };
}
