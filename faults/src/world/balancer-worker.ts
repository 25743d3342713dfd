import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { seeded } from '@kith/bench/random';
import type { Order, Upstream } from './balancer.ts';
import { isReady } from './is-ready.ts';

// The balancer runs on a separate thread. If it ran on the thread that makes the load, connections would wait for many seconds,
// and the balancer would pass on requests after their clients have given up.

const quickMs = 1_000;
const upstreams: readonly Upstream[] = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 1_024, maxFreeSockets: 1_024 });
const down = new Set<Upstream>();
let isQuick = true;
let share = 0;
let chance: () => number = Math.random;
let turn = 0;
const check = async (upstream: Upstream) => {
  if (await isReady(upstream.readyUrl, quickMs)) down.delete(upstream);
  else down.add(upstream);
};
let timer: NodeJS.Timeout;
const checkEvery = (ms: number) => {
  clearInterval(timer);
  timer = setInterval(() => upstreams.forEach(check), ms);
};
checkEvery(quickMs);

const server = createServer(async (incoming, outgoing) => {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch {
    return outgoing.destroy();
  }
  const body = Buffer.concat(chunks);
  const ready = upstreams.filter((one) => !down.has(one));
  const among = ready.length > 0 ? ready : upstreams;
  turn += 1;
  const order = among.map((_, index) => among[(turn + index) % among.length] as Upstream);
  await forward(incoming, outgoing, body, isQuick ? order : order.slice(0, 1));
});

async function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: Buffer,
  order: readonly Upstream[],
): Promise<void> {
  const [upstream, ...others] = order;
  if (!upstream) {
    outgoing.writeHead(502).end();
    return;
  }
  const { method, url, headers } = incoming;
  const to = { agent, host: '127.0.0.1', port: upstream.port, method, path: url };
  const ask = request({ ...to, headers: endToEnd(headers) });
  outgoing.once('close', () => ask.destroy());
  try {
    ask.end(body);
    const [answer] = (await once(ask, 'response')) as [IncomingMessage];
    const isKept = method !== 'GET' && chance() < share;
    if (isKept) {
      for await (const _ of answer);
      return void outgoing.destroy();
    }
    outgoing.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
    answer.pipe(outgoing);
    answer.on('error', () => outgoing.destroy());
  } catch (error) {
    if (outgoing.destroyed) return;
    const { code } = error as NodeJS.ErrnoException;
    // It is safe to send the request to another gateway: either the connection was refused before the request was sent, or the
    // request changes nothing.
    if (code === 'ECONNREFUSED' || (method === 'GET' && isQuick)) {
      if (isQuick) down.add(upstream);
      return forward(incoming, outgoing, body, others);
    }
    outgoing.writeHead(502).end();
  }
}

parentPort?.on('message', (order: Order) => {
  if ('keepShare' in order) {
    share = order.keepShare;
    chance = seeded(order.seed);
  } else {
    isQuick = 'be' in order;
    checkEvery('be' in order ? quickMs : order.lagByMs);
  }
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);

/**
 * Removes headers that are about a single connection (RFC 9110 section 7.6.1). The balancer closes a client's idle connection
 * sooner than the gateway's `keep-alive` header says. If a client saw this header, it could send a request over a connection
 * that the balancer is closing. The request would be lost.
 */
function endToEnd({
  connection: _,
  'keep-alive': _keepAlive,
  ...headers
}: IncomingHttpHeaders): IncomingHttpHeaders {
  return headers;
}
