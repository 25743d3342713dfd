import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempDisposable } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Secrets } from '@kith/base';
import { statusHeader } from '@kith/bus';
import { createFile, getFile } from '@kith/contracts';
import { encodeContext, operationHeader, type RequestContext, signContext } from '@kith/service';
import { startStorage } from '@kith/storage';
import { openStore } from '@kith/storage/testing';
import { openBlobs } from '@kith/store/blobs';
import { createStore } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filePart, multipart } from '../../../tests/support/multipart.ts';
import {
  expectError,
  projectId,
  send,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  userId,
} from './harness.ts';

const secret = 'the secret that these suites sign with';
const contextHeader = 'kith-signed-context';
const signatureHeader = 'kith-signature';

/** Headers that Node itself sends to a service, and headers that describe the body. */
const allowed = [
  ...['host', 'connection', 'content-type', 'content-length', 'transfer-encoding'],
  ...['range', 'if-range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'],
  ...[contextHeader, signatureHeader, operationHeader, 'traceparent'],
];

describe('the request that a gateway sends to a file service', () => {
  const undo = new AsyncDisposableStack();
  const seen: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[] = [];
  let gateway: TestGateway;
  let token: string;

  beforeAll(async () => {
    const upstream = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request;
      seen.push({ method, url, headers, body: await text(request) });
      response.writeHead(200, { [statusHeader]: '200', 'Content-Length': 2 });
      response.end(method === 'HEAD' ? undefined : 'ok');
    });
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    undo.defer(() => {
      upstream.close();
    });
    const { port } = upstream.address() as AddressInfo;
    const env = { KITH_SECRET: secret, UPSTREAMS: `storage=http://127.0.0.1:${port}` };
    gateway = undo.use(await startTestGateway('embedded', { env }));
    const issuer = await serveIssuer(gateway.bus);
    undo.defer(() => issuer.stop());
    token = await issuer.token();
  });
  afterAll(() => undo.disposeAsync());

  /**
   * Headers with which a client may try to pose as somebody else. Some of them are signed with the gateway's secret, which a
   * client does not have. The others need no secret.
   */
  function forged(operation: string, path: string): Record<string, string> {
    const context: Partial<RequestContext> = {
      requestId: 'forged',
      projectId,
      caller: { userId: randomUUID(), sessionId: randomUUID(), role: 'admin' },
    };
    const own = signContext(new Secrets(secret), { method: 'POST', path, operation }, context);
    return {
      ...own,
      ...encodeContext(context),
      [operationHeader]: 'storage.forged',
      'kith-status': '200',
      'kith-user-id': randomUUID(),
      cookie: 'session=1',
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-host': 'forged.example.org',
      forwarded: 'for=203.0.113.7',
      te: 'trailers',
      'x-anything': 'else',
    };
  }

  const contextOf = (headers: IncomingHttpHeaders) =>
    JSON.parse(
      JSON.parse(Buffer.from(String(headers[contextHeader]), 'base64url').toString())['Kith-Context'],
    ) as RequestContext;

  const files = `/v7/${projectId}/storage/files`;
  const fileId = randomUUID();
  const { type, body } = multipart([filePart('the bytes')]);
  const upload = { method: 'POST', path: files, body, headers: { 'content-type': type } };
  const download = { method: 'GET', path: `${files}/${fileId}`, headers: { range: 'bytes=0-1' } };
  const requests = [
    ['an upload', createFile.name, upload],
    ['a download', getFile.name, download],
    ['a HEAD request', getFile.name, { ...download, method: 'HEAD' }],
  ] as const;

  it.each(requests)(
    'contains only the gateway’s own headers, no matter what else the client sends: %s',
    async (_, name, one) => {
      const path = one.path.replace('/v7', '');
      const headers: Record<string, string> = {
        ...forged(name, path),
        ...one.headers,
        authorization: `Bearer ${token}`,
      };
      const answer = await send(gateway.gateway.port, { ...one, headers });
      expect(answer.status).toBe(200);
      const got = seen.pop();
      expect([got?.method, got?.url]).toEqual([one.method, path]);
      expect(Object.keys(got?.headers ?? {}).filter((header) => !allowed.includes(header))).toEqual([]);
      expect(got?.headers[operationHeader]).toBe(name);
      expect(got?.headers[signatureHeader]).not.toBe(headers[signatureHeader]);
      const context = contextOf(got?.headers ?? {});
      expect(context).toMatchObject({ projectId, clientIp: '127.0.0.1' });
      expect(context.requestId).not.toBe('forged');
      if (one.method === 'POST') expect(context.caller?.userId).toBe(userId);
      else expect(context.caller).toBeNull();
      expect(got?.body).toBe(one.method === 'POST' ? body.toString() : '');
    },
  );

  it('keeps the gateway’s headers, even if the client names them in Connection', async () => {
    const connection = `close, ${signatureHeader}, ${contextHeader}, ${operationHeader}`;
    const headers = { ...upload.headers, connection, authorization: `Bearer ${token}` };
    expect((await send(gateway.gateway.port, { ...upload, headers })).status).toBe(200);
    const got = seen.pop();
    for (const name of [signatureHeader, contextHeader, operationHeader])
      expect(got?.headers[name]).toBeTruthy();
    expect(contextOf(got?.headers ?? {}).caller?.userId).toBe(userId);
  });

  it('is not sent if the upload has no token', async () => {
    const { authorization: _, ...headers } = {
      ...forged(createFile.name, files),
      ...upload.headers,
      authorization: '',
    };
    expect((await send(gateway.gateway.port, { ...upload, headers })).status).toBe(401);
    expect(seen).toEqual([]);
  });
});

it('a service that does not recognise the signature stores nothing, and the client gets 503', async () => {
  await using undo = new AsyncDisposableStack();
  const test = undo.use(await startTestGateway('embedded'));
  const issuer = await serveIssuer(test.bus);
  undo.defer(() => issuer.stop());
  const folder = undo.use(await mkdtempDisposable(join(tmpdir(), 'kith-unsigned-'))).path;
  const place = undo.use(await createStore('embedded'));
  const service = undo.use(
    await startStorage(test.runtime, {
      ...{ store: place.config, draftFolder: join(folder, 'drafts') },
      blobs: await openBlobs({ kind: 'folder', folder: join(folder, 'files') }),
      http: { host: '127.0.0.1', port: 0, secrets: new Secrets('the secret of another installation') },
      quotas: { projectBytes: 1024 * 1024, userBytes: 1024 * 1024 },
    }),
  );
  const env = { KITH_SECRET: secret, UPSTREAMS: `storage=${service.httpUrl}` };
  const { port } = await test.another({ env });
  const { type, body } = multipart([filePart('the bytes')]);
  const path = `/v7/${projectId}/storage/files`;
  const headers = { 'content-type': type, authorization: `Bearer ${await issuer.token()}` };
  for (const request of [{ method: 'POST', path, headers, body }, { path: `${path}/${randomUUID()}` }]) {
    const answer = await send(port, request);
    expectError(answer, 'gateway/unavailable');
    expect(answer.headers['retry-after']).toBe('1');
  }
  const store = undo.adopt(await openStore(place.config), (opened) => opened.close());
  expect((await store.account({ projectId, userId })).stored).toBeUndefined();
});
