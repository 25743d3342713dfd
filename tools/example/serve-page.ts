import { once } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { StartError } from '@kith/base';
import { createServer } from 'vite';
import { type KithSettings, kithSettings } from '../../examples/people/kith-settings.ts';

const root = fileURLToPath(new URL('../../examples/people/', import.meta.url));
const usualPort = 5173;

/**
 * Serves the application from its sources. A change in a source shows immediately.
 *
 * @param port The port. By default, this is Vite's usual port. If that port is taken, the default is a free port.
 */
export async function servePage(
  settings: KithSettings,
  port: number | undefined,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createHttpServer();
  // Vite gets an HTTP server of ours, because it then leaves the process's signals alone.
  const vite = await createServer({
    root,
    logLevel: 'warn',
    server: { middlewareMode: true, hmr: { server } },
    plugins: [kithSettings(settings)],
  });
  server.on('request', vite.middlewares);
  try {
    await listen(server, port);
  } catch (error) {
    await vite.close();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      await vite.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

async function listen(server: Server, port: number | undefined): Promise<void> {
  try {
    server.listen(port ?? usualPort, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (port === undefined) return listen(server, 0);
    const sentence = `127.0.0.1:${port} is taken by another program; set PORT to another port.`;
    throw new StartError(sentence, { cause: error });
  }
}
