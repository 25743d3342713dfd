import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartError } from '../errors.ts';
import type { Metrics } from './metrics.ts';

export interface InternalServer {
  port: number;
  close(): Promise<void>;
}

/**
 * Serves three paths. `/healthz` answers 200 while the process runs. `/readyz` answers 200 if the process can do its work.
 * Otherwise, `/readyz` answers 503 and names what is missing. `/metrics` answers with the metrics as Prometheus text. This
 * server must not be reachable from the open network.
 */
export async function startInternalServer(options: {
  host: string;
  port: number;
  metrics: Metrics;
  /** The reasons why the process is not ready yet; empty when it is ready. */
  notReady: () => readonly string[] | Promise<readonly string[]>;
}): Promise<InternalServer> {
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: string, type = 'application/json') =>
      response.writeHead(status, { 'content-type': type }).end(body);
    try {
      if (request.url === '/healthz') answer(200, '{"status":"ok"}');
      else if (request.url === '/readyz') {
        const missing = await options.notReady();
        if (missing.length === 0) answer(200, '{"status":"ready"}');
        else answer(503, JSON.stringify({ status: 'not ready', missing }));
      } else if (request.url === '/metrics') {
        answer(200, await options.metrics.registry.metrics(), options.metrics.registry.contentType);
      } else answer(404, '{"status":"not found"}');
    } catch {
      if (!response.headersSent) answer(500, '{"status":"error"}');
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new StartError(listenSentence('INTERNAL_PORT', options, error), { cause: error })),
    );
    server.listen(options.port, options.host, resolve);
  });
  const isReady = async () => Number((await options.notReady()).length === 0);
  // If the check takes too long, for example because a database does not respond, the gauge reports 0, which means "not ready".
  const unwatch = options.metrics.ready.watch({}, isReady, 0);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        unwatch();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Returns a sentence that says why the process cannot listen on an address. */
export function listenSentence(
  variable: string,
  at: { host: string; port: number },
  error: NodeJS.ErrnoException,
): string {
  const reasons: Record<string, string> = {
    EADDRINUSE: 'is taken by another program',
    EACCES: 'needs more rights than this user has',
    EADDRNOTAVAIL: 'is not an address of this machine',
  };
  const reason = reasons[error.code ?? ''] ?? `cannot be listened on (${error.code})`;
  const hostVariable = variable === 'INTERNAL_PORT' ? 'INTERNAL_HOST' : 'HOST';
  const help =
    error.code === 'EADDRNOTAVAIL' ? `set ${hostVariable} to one` : `set ${variable} to another port`;
  return `${at.host}:${at.port} ${reason}; ${help}.`;
}
