import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import type { StoreConfig } from '@kith/service';
import { createStore, type EngineKind } from '@kith/testing';

export interface BreakableStore extends AsyncDisposable {
  config: StoreConfig;
  /** Takes the database away from who has it open. */
  takeDown(): Promise<void>;
}

/** A store whose database goes down on demand: its connections end, or its tables are gone. */
export async function createBreakableStore(engine: EngineKind): Promise<BreakableStore> {
  const place = await createStore(engine);
  const { config } = place;
  if (config.kind === 'mongo') return behindProxy(place, config);
  return {
    config,
    async takeDown() {
      using db = new DatabaseSync(config.file);
      for (const table of ['projects', 'users', 'sessions', 'keys']) db.exec(`DROP TABLE ${table}`);
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

async function behindProxy(
  place: AsyncDisposable,
  config: StoreConfig & { kind: 'mongo' },
): Promise<BreakableStore> {
  const target = new URL(config.url);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(Number(target.port || 27017), target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = new URL(config.url);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const takeDown = async () => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  };
  return {
    config: { ...config, url: url.href },
    takeDown,
    async [Symbol.asyncDispose]() {
      await takeDown();
      await place[Symbol.asyncDispose]();
    },
  };
}
