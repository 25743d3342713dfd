import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Chooses a port of 127.0.0.1 that nobody listens on. The port is below the range that kernels use for outgoing connections. So a
 * stopped container finds its port still free.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
