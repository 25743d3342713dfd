import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A proxy that stands in front of a gateway and can stop each request. */
export interface Gate extends AsyncDisposable {
  url: string;
}

/**
 * The stage of a request. `asked`: the request is on its way to the gateway. `answered`: the gateway has answered with success.
 * `told`: the answer has been passed on to the caller.
 */
export type GateStage = 'asked' | 'answered' | 'told';

/** A request at the gate. */
export interface Passing {
  path: string;
  body: string;
  stage: GateStage;
}

/**
 * Starts a proxy in front of a gateway. The proxy calls `isShut` at each stage of each request. If `isShut` returns true, the proxy
 * cuts the connection. If `isShut` returns a promise at the stage `asked` or `answered`, the request waits for this promise.
 * The gateway completes every request that the proxy has passed on, even if the connection was cut. Disposing waits for these
 * requests.
 */
export async function layGate(
  url: string,
  isShut: (passing: Passing) => boolean | Promise<boolean>,
): Promise<Gate> {
  const underWay = new Set<Promise<void>>();
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = 'GET', url: path = '', headers } = incoming;
    const body = await text(incoming);
    const isShutAt = (stage: GateStage) => isShut({ path, body, stage });
    if (await isShutAt('asked')) return void outgoing.destroy();
    const { authorization = '' } = headers;
    const answer = await fetch(url + path, {
      method,
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
    });
    const told = await answer.text();
    if (answer.ok && (await isShutAt('answered'))) return void outgoing.destroy();
    const link = answer.headers.get('link');
    outgoing.writeHead(answer.status, { 'content-type': 'application/json', ...(link && { link }) });
    outgoing.end(told, () => answer.ok && isShutAt('told'));
  };
  const server = createServer((incoming, outgoing) => {
    const passed = pass(incoming, outgoing);
    underWay.add(passed);
    passed.then(
      () => underWay.delete(passed),
      // This error means that the caller was killed while it sent the request. Any other error makes the disposal fail.
      (error: NodeJS.ErrnoException) => error.code === 'ECONNRESET' && underWay.delete(passed),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      await Promise.all(underWay);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
