import type { AddressInfo } from 'node:net';
import { createServer, connect as openSocket, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/service';

/** A store that can be taken away while a service runs on it. */
export interface FragileStore extends AsyncDisposable {
  config: StoreConfig;
  break(): Promise<void>;
}

/** Puts a line that can be cut between a service and its MongoDB; a SQLite file loses its table. */
export async function fragile(config: StoreConfig): Promise<FragileStore> {
  if (config.kind === 'sqlite') {
    const drop = async () => {
      const db = new DatabaseSync(config.file);
      db.exec('DROP TABLE collections');
      db.close();
    };
    return { config, break: drop, async [Symbol.asyncDispose]() {} };
  }
  const target = new URL(config.url);
  const sockets = new Set<Socket>();
  const line = createServer((near) => {
    const far = openSocket(Number(target.port || 27017), target.hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve));
  const cut = async () => {
    line.close();
    for (const socket of sockets) socket.destroy();
  };
  const url = new URL(config.url);
  url.host = `127.0.0.1:${(line.address() as AddressInfo).port}`;
  url.searchParams.set('directConnection', 'true');
  return { config: { ...config, url: url.href }, break: cut, [Symbol.asyncDispose]: cut };
}
