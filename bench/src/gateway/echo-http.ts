// The service behind those gateways that forward requests over HTTP. It answers each request with a page of connections for the
// user who sent the request.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pageFor } from '../page.ts';

const page = pageFor(JSON.parse(process.env.PAGE ?? '{}'));

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const body = page(String(request.headers['x-user']));
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ type: 'ready', url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
