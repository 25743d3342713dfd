import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { StartError } from '@kith/base';
import { createServer } from 'vite';
import { type KithSettings, kithSettings } from '../../examples/people/kith-settings.ts';

const root = fileURLToPath(new URL('../../examples/people/', import.meta.url));
const usualPort = 5173;
/** The error codes of a machine that has no `::1`. */
const withoutIpv6 = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/**
 * Serves the application from its sources, at `localhost`. Passkeys need a host name, not an address. A change in a source shows
 * immediately.
 *
 * @param port The port. By default, this is Vite's usual port. If that port is taken, the default is a free port.
 */
export async function servePage(
  settings: KithSettings,
  port: number | undefined,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createHttpServer();
  // Vite gets an HTTP server that is made here. With such a server, Vite does not handle the signals of this process.
  const vite = await createServer({
    root,
    logLevel: 'warn',
    server: { middlewareMode: true, hmr: { server } },
    plugins: [kithSettings(settings)],
  });
  server.on('request', vite.middlewares);
  const onIpv6 = createTcpServer((socket) => server.emit('connection', socket));
  try {
    await listen([server, onIpv6], port);
  } catch (error) {
    await vite.close();
    throw error;
  }
  return {
    url: `http://localhost:${portOf(server)}`,
    async stop() {
      await vite.close();
      onIpv6.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Listens on both addresses of `localhost`. A browser tries both addresses. So if this server listened on only one of them, the
 * browser could reach another program at the other address. A machine without IPv6 has only the first address.
 */
async function listen(servers: readonly [Server, TcpServer], port: number | undefined): Promise<void> {
  const [onIpv4, onIpv6] = servers;
  try {
    await listenAt(onIpv4, port ?? usualPort, '127.0.0.1');
    await listenAt(onIpv6, portOf(onIpv4), '::1');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (onIpv4.listening && withoutIpv6.includes(code)) return;
    onIpv4.close();
    if (code !== 'EADDRINUSE') throw error;
    if (!port) return listen(servers, 0);
    const sentence = `localhost:${port} is taken by another program; set PORT to another port.`;
    throw new StartError(sentence, { cause: error });
  }
}

async function listenAt(server: TcpServer, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
