import { Agent, request } from 'node:http';
import { operations, serverKeyMay } from '@kith/contracts';
import { type Answer, http } from '../http.ts';
import { multipart, type Part } from '../multipart.ts';
import type { Described } from './described.ts';
import { type Made, onBehalfOf } from './requests.ts';
import type { Somebody, Things } from './world.ts';

/** Keeps connections open. A new connection for each request would use up the machine's ports. */
export const agent: Agent = new Agent({ keepAlive: true, maxSockets: 32 });

export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array | string | undefined;
}

/** Builds the HTTP request. If `made.names` is `known`, things that exist replace made-up values. */
export function written(
  made: Made,
  { user, things }: Somebody,
  { operatorToken, serverKey }: { operatorToken: string; serverKey: string },
): Sent {
  const { described, values, asker, scheme, wrong } = made;
  const known = made.names === 'known' ? things : { projectId: things.projectId };
  const own: Things = isOwn(described) ? { userId: user.id } : {};
  const named: Things = wrong === 'path' ? values.path : { ...values.path, ...known, ...own };
  const path = described.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(named[name])),
  );
  // A made-up cursor is never valid. So most requests leave the cursor out and read a list from the beginning.
  const { cursor, ...asked } = values.query;
  const all = cursor === undefined || made.names === 'known' ? asked : values.query;
  const query = new URLSearchParams(texts(wrong === 'query' ? values.query : all));
  const headers = texts(values.header);
  const token = { operatorToken, serverKey }[scheme] ?? user.accessToken;
  if (asker !== 'nobody') headers.authorization = `Bearer ${asker === 'known' ? token : 'a.b.c'}`;
  // If the operation may be called with a server key alone, the request names no user for whom the key acts. Only such a
  // request may set all fields of a body.
  const isOnBehalf = asker === 'known' && scheme === 'serverKey' && !alone.has(described.id);
  if (isOnBehalf) headers[onBehalfOf] = user.id;
  const body = bodyOf(made, known);
  if (body) headers['content-type'] = body.type;
  return {
    method: described.method,
    path: `${path}${query.size > 0 ? `?${query}` : ''}`,
    headers,
    body: body?.bytes,
  };
}

/** Operations that a server key may call without a user. */
const alone = new Set<string>(operations.flatMap((one) => (serverKeyMay(one) === 'itself' ? one.name : [])));

function texts(values: Things): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/**
 * Whether the path must name the user of the request, and never a made-up id. This is so for two operations that a user may
 * call only about themselves, and for all operators' operations.
 */
function isOwn({ id, security }: Described): boolean {
  return ['identity.update-user', 'identity.export-user'].includes(id) || security.includes('operatorToken');
}

function bodyOf(made: Made, known: Things): { type: string; bytes: Uint8Array | string } | undefined {
  const { described, wrong, body } = made;
  if (!described.body || body === undefined) return undefined;
  if (described.body.type === 'multipart/form-data') {
    const parts = Object.entries(body as Record<string, Uint8Array | string>).map(
      ([name, value]): Part => ({ name, value, ...(name === 'file' && { filename: 'file' }) }),
    );
    const form = multipart(parts);
    return { type: form.type, bytes: form.body };
  }
  const { properties = {} } = described.body.schema as { properties?: object };
  const filled = Object.fromEntries(
    Object.keys(properties).flatMap((name) => (name in known ? [[name, known[name]]] : [])),
  );
  const whole = wrong === 'body' || body === null || typeof body !== 'object' ? body : { ...body, ...filled };
  return { type: 'application/json', bytes: JSON.stringify(whole) };
}

/** Sends a request. If the answer is a stream, reads only the status and the headers of the answer. */
export function send(url: string, sent: Sent, isStream: boolean): Promise<Answer> {
  const { method, path, headers, body } = sent;
  if (!isStream) return http(url, { method, path, headers, agent, ...(body === undefined ? {} : { body }) });
  return new Promise((resolve, reject) => {
    const outgoing = request(url + path, { method, headers, agent: false }, (incoming) => {
      const { statusCode: status = 0, headers: got } = incoming;
      if (status !== 200) {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('end', () => resolve(answered(Buffer.concat(chunks).toString())));
        return;
      }
      outgoing.destroy();
      resolve(answered(''));
      function answered(text: string): Answer {
        return { status, headers: got as Record<string, string>, text, json: () => JSON.parse(text) };
      }
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
