import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { getUser, rpcSubject } from '@kith/contracts';
import { successReply } from '@kith/service';
import { projectId, type TestGateway } from '../harness.ts';

/**
 * Sends a GET of `path` on a connection on which an earlier request is not answered yet. Resolves when the request waits for its
 * turn. The earlier request is answered once `release` is called.
 */
export async function behindAnother(
  { bus, gateway }: TestGateway,
  { path, token }: { path: string; token: string },
): Promise<{ socket: Socket; release(): void }> {
  const gate = Promise.withResolvers<void>();
  await bus.serve(rpcSubject(bus.prefix, getUser), 'played', async () => {
    await gate.promise;
    return successReply(200, {}, {});
  });
  const waits = Promise.withResolvers<void>();
  const onRequest = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.url !== path) return;
    response.on('newListener', (name) => name === 'socket' && waits.resolve());
  };
  subscribe('http.server.request.start', onRequest);
  const socket = connect(gateway.port, '127.0.0.1');
  const get = (of: string) => `GET ${of} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  socket.write(get(`/v7/${projectId}/users/${randomUUID()}`) + get(path));
  await waits.promise;
  unsubscribe('http.server.request.start', onRequest);
  return { socket, release: gate.resolve };
}
