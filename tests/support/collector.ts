import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CollectedSpan, spansOf } from './otlp.ts';

/** A collector of traces for tests. */
export interface Collector extends AsyncDisposable {
  url: string;
  spans(): CollectedSpan[];
  /** All bytes that have arrived, as text. */
  received(): string;
  /** The headers of each export. */
  headers(): IncomingHttpHeaders[];
}

/** Starts a collector (OTLP over HTTP, protobuf). With `hangs`, the collector accepts exports and never answers. */
export async function startCollector(options: { hangs?: boolean } = {}): Promise<Collector> {
  const bodies: Buffer[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (request.url !== '/v1/traces') return void response.writeHead(404).end();
    headers.push(request.headers);
    bodies.push(Buffer.concat(chunks));
    if (!options.hangs) response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => bodies.flatMap((body) => spansOf(body)),
    received: () => Buffer.concat(bodies).toString('latin1'),
    headers: () => headers,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
