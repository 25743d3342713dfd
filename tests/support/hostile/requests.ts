import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { methodsOf, type OperationSpec, operations } from '@kith/contracts';
import type { TestPlatform } from '@kith/testing';
import { z } from 'zod';
import { hostileBodies, hostileTexts } from './values.ts';

/** A request that is meant to block the event loop. */
export interface HostileRequest {
  /** The operation, the place and the value, as one text. */
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

interface Example {
  params?: Record<string, string>;
  body?: Record<string, unknown>;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const examples: Record<string, Example> = Object.assign(
  {},
  ...globSync('libs/openapi/examples/*.json', { cwd: root }).map((file) =>
    JSON.parse(readFileSync(`${root}/${file}`, 'utf8')),
  ),
);
/**
 * The space for hostile values in the request line and the headers, in bytes. Node accepts at most 16 KiB for the request line
 * and all headers together.
 */
const longestHeader = 15 * 1024;

/** All hostile requests for a platform, sent as a user or as an operator. */
export async function* hostileRequests(platform: TestPlatform): AsyncGenerator<HostileRequest> {
  const [user, other] = [await platform.createUser(), await platform.createUser()];
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const projectId = platform.project.id;
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  await platform.call('PATCH', `/admin/projects/${projectId}`, {
    token: platform.operatorToken,
    body: { publicKey: pem },
  });
  const to = (spec: OperationSpec) => {
    const params: Record<string, string> = {
      ...examples[spec.name]?.params,
      projectId,
      // A user can change only their own profile. All other operations name another user, so that they do not delete the caller's
      // account.
      userId: spec.name === 'identity.update-user' ? user.id : other.id,
    };
    const path = spec.path.replaceAll(/:(\w+)/g, (_, name: string) => params[name] ?? 'x');
    const token = spec.auth === 'operator' ? platform.operatorToken : user.accessToken;
    return {
      method: methodsOf(spec)[0] as string,
      path: `${spec.scope === 'project' ? `/v7/${projectId}` : ''}${path}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    };
  };
  for (const spec of operations) {
    const target = to(spec);
    if (spec.kind !== 'stream') yield* inQueries(spec, target);
    if (target.method === 'GET') continue;
    const right = { ...examples[spec.name]?.body };
    if ('privateKey' in right) right.privateKey = base64Of(privateKey);
    const { properties = {} } = z.toJSONSchema(spec.body, { io: 'input', unrepresentable: 'any' });
    const others = Object.keys(properties).filter((name) => !(name in right));
    for (const [what, body] of hostileBodies(right, others))
      yield { ...target, name: `${spec.name} ${what}`, body };
    if ('privateKey' in right) {
      for (const [what, key] of costlyKeys()) {
        const body = JSON.stringify({ ...right, privateKey: base64Of(key) });
        yield { ...target, name: `${spec.name} privateKey: ${what}`, body };
      }
    }
    if (Array.isArray(right.rows)) {
      const body = JSON.stringify({ rows: manyRows(right.rows[0]) });
      yield { ...target, name: `${spec.name} rows: as many as there may be`, body };
    }
    if (spec.name === 'identity.verify-external-user') {
      for (const [what, userData] of hostileBodies({ name: 'x', metadata: {} }, profile, 150 * 1024)) {
        const userJwt = tokenOf(privateKey, projectId, userData);
        yield { ...target, name: `${spec.name} signed ${what}`, body: JSON.stringify({ userJwt }) };
      }
    }
  }
  yield* inHeaders(to);
}

const profile = ['username', 'avatar', 'bio', 'location', 'birthdate', 'email'];

function* inQueries(spec: OperationSpec, target: Omit<HostileRequest, 'name'>): Generator<HostileRequest> {
  for (const query of [...Object.keys(spec.query.shape), 'unknown']) {
    for (const [what, text] of Object.entries(hostileTexts(longestHeader / 3 - 400))) {
      const encoded = encodeURIComponent(text.toWellFormed());
      const path = `${target.path}?${query}=${encoded.slice(0, longestHeader - 1_000)}`;
      yield { ...target, path, name: `${spec.name} ?${query}: ${what}` };
    }
    const many = `${query}=1&`.repeat((longestHeader - 1_000) / (query.length + 3));
    yield { ...target, path: `${target.path}?${many}`, name: `${spec.name} ?${query}: again and again` };
  }
}

/** The headers that the platform reads. Some headers matter only in GET requests, others only in requests that write. */
const headerNames = [
  ...['accept', 'accept-encoding', 'authorization', 'content-type', 'cookie', 'expect', 'if-none-match'],
  ...['last-event-id', 'origin', 'range', 'traceparent', 'user-agent', 'x-forwarded-for', 'x-request-id'],
];
const headerValues: Record<string, string> = {
  'media types': 'application/problem+json;q=0.5,',
  parameters: 'application/json;a=b;',
  'quoted parameters': 'application/json;a="b\\"";',
  addresses: '10.0.0.1, ',
  'IPv6 addresses': 'fe80::1%a-b, ',
  tags: '"a", W/"b", ',
  ranges: 'bytes=0-1, ',
  cookies: 'a=b; ',
  tokens: 'Bearer eyJhbGciOiJSUzI1NiJ9.',
};

function* inHeaders(to: (spec: OperationSpec) => Omit<HostileRequest, 'name'>): Generator<HostileRequest> {
  const texts = Object.entries(hostileTexts(longestHeader - 3_000)).filter(([, text]) =>
    /^[\x20-\x7e]+$/.test(text),
  );
  const values = Object.entries(headerValues).map(
    ([what, part]) => [what, part.repeat((longestHeader - 3_000) / part.length)] as const,
  );
  const targets = operations
    .filter(({ name }) => ['connections.list', 'identity.update-user'].includes(name))
    .map(to);
  const { headers } = targets[0] as HostileRequest;
  for (const target of [...targets, { method: 'GET', path: '/docs', headers }]) {
    for (const header of headerNames) {
      for (const [what, text] of [...texts, ...values]) {
        for (const value of header === 'authorization' ? [text, `Bearer ${text}`] : [text]) {
          const name = `${target.method} ${header}: ${what}`;
          const body = target.method === 'GET' ? {} : { body: '{}' };
          yield { ...target, name, headers: { ...target.headers, [header]: value }, ...body };
        }
      }
    }
  }
}

/** Makes as many rows as a request may have. Each row has its own ids. */
function manyRows(row: Record<string, unknown>): unknown[] {
  return Array.from({ length: 1_000 }, (_, at) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        if (!/^(id|foreignId|username|entityId|receiverForeignId)$/.test(name))
          return [name, name === 'email' ? `a${at}@example.com` : value];
        return [name, `${value}${at}`];
      }),
    ),
  );
}

/** Makes a token as the project's own backend signs it. Its `userData` is the given JSON text. */
function tokenOf(key: KeyObject, projectId: string, userData: string): string {
  const iat = Math.floor(Date.now() / 1000);
  const claims = { iss: projectId, aud: 'kith.dev', sub: 'user-1', iat, exp: iat + 300 };
  const text = `${JSON.stringify(claims).slice(0, -1)},"userData":${userData}}`;
  const [head, payload] = ['{"alg":"RS256"}', text].map((part) => Buffer.from(part).toString('base64url'));
  const signature = sign('RSA-SHA256', Buffer.from(`${head}.${payload}`), key).toString('base64url');
  return `${head}.${payload}.${signature}`;
}

/** Keys that make signing slow. They are not real keys, because their numbers are random. */
function costlyKeys(): [string, KeyObject][] {
  const odd = (bits: number) => {
    const bytes = randomBytes(bits / 8);
    bytes[0] = (bytes[0] as number) | 0x80;
    bytes[bytes.length - 1] = (bytes.at(-1) as number) | 1;
    return bytes.toString('base64url');
  };
  const key = (bits: number, e: string) => {
    const half = () => odd(bits / 2);
    const parts = { n: odd(bits), d: odd(bits), p: half(), q: half(), dp: half(), dq: half(), qi: half() };
    return createPrivateKey({ key: { kty: 'RSA', e, ...parts }, format: 'jwk' });
  };
  return [
    ['of 16,384 bits', key(16_384, 'AQAB')],
    ['of 8,192 bits', key(8_192, 'AQAB')],
    ['with a large exponent', key(2_048, odd(2_040))],
  ];
}

function base64Of(key: KeyObject): string {
  return Buffer.from(key.export({ type: 'pkcs8', format: 'pem' })).toString('base64');
}
