import { type Agent, request } from 'node:http';

/** An HTTP answer as it was received: nothing is parsed or decoded, and no redirect is followed. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The body as JSON. */
  json(): unknown;
}

export interface Ask {
  method?: string;
  path: string;
  token?: string;
  headers?: Record<string, string>;
  /** The body. A string or bytes are sent as they are, and any other value as JSON. */
  body?: unknown;
  /** The local address to connect from. Each address of the loopback range counts as another client IP. */
  from?: string;
  /** The agent whose connections the request uses. Without an agent, the request gets a new connection. */
  agent?: Agent;
}

/** Sends one request without changing its path. */
export function http(url: string, ask: Ask): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const raw = ask.body === undefined ? undefined : rawOf(ask.body);
  const headers: Record<string, string> = {
    ...(ask.token ? { authorization: `Bearer ${ask.token}` } : {}),
    ...(raw === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(raw)) }),
    ...ask.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        method: ask.method ?? 'GET',
        path: ask.path,
        headers,
        agent: ask.agent ?? false,
        localAddress: ask.from,
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: incoming.statusCode ?? 0,
            headers: Object.fromEntries(
              Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
            ),
            text,
            json: () => JSON.parse(text),
          });
        });
      },
    );
    outgoing.on('error', reject);
    outgoing.end(raw);
  });
}

function rawOf(body: unknown): string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
}
