// A client in a thread of its own, so that its work blocks no other event loop. For each message, it sends a request and returns the
// status of the answer.
import { request } from 'node:http';
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', ({ url, method, path, headers, body }) => {
  const { hostname, port } = new URL(url);
  const outgoing = request({ hostname, port, method, path, headers, agent: false }, (incoming) => {
    incoming.resume();
    incoming.on('end', () => parentPort?.postMessage(incoming.statusCode));
  });
  outgoing.on('error', () => parentPort?.postMessage(0));
  outgoing.end(body);
});
