// The lower limit of the comparison: the least work that any gateway in JavaScript has to do. It passes requests from node:http
// to NATS and back, and checks no route, token, limit or rule. With FLOOR_REDIS, it also makes one round trip to Redis for each
// request. It collects the messages of one turn of the event loop, and sends them to NATS in one write.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, headers } from '@nats-io/transport-node';
import { Redis } from 'ioredis';
import { environment, ready } from './environment.ts';

const nc = await connect({ servers: environment.natsUrl, noAsyncTraces: true });
const redis = process.env.FLOOR_REDIS
  ? new Redis(environment.redisUrl, { enableAutoPipelining: true })
  : undefined;
const none = new Uint8Array();

const inbox = `_INBOX.floor${process.pid}`;
const waiting = new Map<string, (body: Uint8Array) => void>();
nc.subscribe(`${inbox}.*`, {
  callback: (_error, message) => {
    const id = message.subject.slice(inbox.length + 1);
    waiting.get(id)?.(message.data);
    waiting.delete(id);
  },
});
let last = 0;
let unsent: (() => void)[] = [];

function sendAll(): void {
  const all = unsent;
  unsent = [];
  for (const send of all) send();
}

const server = createServer((request, response) => {
  const forward = () => {
    const id = (++last).toString(36);
    waiting.set(id, (body) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
      response.end(body);
    });
    const context = headers();
    context.set('User', String(request.headers['x-user']));
    const send = () => nc.publish(environment.subject, none, { reply: `${inbox}.${id}`, headers: context });
    if (unsent.push(send) === 1) setImmediate(sendAll);
  };
  if (redis) redis.incr(`floor:${request.headers['x-forwarded-for']}`).then(forward);
  else forward();
});
server.listen(0, '127.0.0.1', () => ready((server.address() as AddressInfo).port));
