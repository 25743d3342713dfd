import { randomUUID } from 'node:crypto';
import { hashApiKey, makeApiKey } from '@kith/base';
import {
  type ApiKey,
  apiKeyNotice,
  getProject,
  listProjects,
  noteKeyUses,
  noticeSubject,
} from '@kith/contracts';
import { serveInternal } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  projectId,
  type Seen,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  type TestIssuer,
} from './harness.ts';

/** If a change arrives within this time, in ms, a notice has brought it. Without a notice, a gateway may need up to 30 s. */
const noticedMs = 5_000;

// spec#operator-keys, docs/adr/0053.
describe.each(handlerEngines())('operator keys on %s', (engine) => {
  let test: TestGateway;
  let issuer: TestIssuer;
  let lists: { seen: Seen[] };
  let used: { hash: string; at: string }[];
  const token = makeApiKey('operator');
  const hash = hashApiKey(token);
  type OperatorKey = Extract<ApiKey, { kind: 'operator' }>;
  const key = (changes: Partial<OperatorKey> = {}): OperatorKey => ({
    ...{
      kind: 'operator' as const,
      id: randomUUID(),
      scopes: ['projects:read' as const],
      projectIds: null,
      expiresAt: null,
    },
    ...changes,
  });

  beforeEach(async () => {
    used = [];
    test = await startTestGateway(engine, { env: { OPERATOR_TOKEN: 'operator-secret' } });
    lists = await serveEcho(test.bus, listProjects);
    await serveEcho(test.bus, getProject);
    await serveInternal(
      {
        spec: noteKeyUses,
        handle: async ({ uses }: { uses: typeof used }) => {
          used.push(...uses);
          return {};
        },
      },
      { ...test.runtime, app: {}, checkOutput: true },
    );
  });
  afterEach(() => test[Symbol.asyncDispose]());

  const list = (sent = token, port = test.gateway.port) =>
    send(port, { path: listProjects.path, headers: { authorization: `Bearer ${sent}` } });
  const ready = async () => {
    issuer = await serveIssuer(test.bus);
    await waitFor(async () => (await test.gateway.notReady()).length === 0, { what: 'readiness' });
  };
  const tell = (told: ApiKey | null) =>
    test.bus.broadcast(
      noticeSubject(test.bus.prefix, apiKeyNotice),
      new TextEncoder().encode(JSON.stringify({ hash, key: told })),
    );
  const becomes = (status: number) =>
    waitFor(async () => (await list()).status === status, { what: String(status), timeoutMs: noticedMs });

  it('get 503 until the gateway has loaded the keys; OPERATOR_TOKEN works before that', async () => {
    expect(await test.gateway.notReady()).toContain('api-keys');
    expect((await list()).status).toBe(503);
    expect((await list('operator-secret')).status).toBe(200);
  });

  it('are accepted and refused as identity announces, also by gateways that start later', async () => {
    await ready();
    expect((await list()).status).toBe(401);
    const known = key();
    await tell(known);
    await becomes(200);
    expect(lists.seen.at(-1)?.context.operator).toEqual({ keyId: known.id, projectIds: null });
    await tell(null);
    await becomes(401);
    issuer.apiKeys = [{ hash, key: known }];
    const later = await test.another();
    await waitFor(async () => (await later.notReady()).length === 0);
    expect((await list(token, later.port)).status).toBe(200);
  });

  it('all work, even if one of them has a scope that only a newer identity knows', async () => {
    await ready();
    const newer = makeApiKey('operator');
    const scopes = ['projects:read', 'newer:write'] as never[];
    issuer.apiKeys = [
      { hash: hashApiKey(newer), key: key({ scopes }) },
      { hash, key: key() },
    ];
    const later = await test.another();
    await waitFor(async () => (await later.notReady()).length === 0, { what: 'readiness' });
    for (const one of [token, newer]) expect((await list(one, later.port)).status).toBe(200);
  });

  it('are refused for other projects than their own, before any service is asked', async () => {
    await ready();
    const own = randomUUID();
    await tell(key({ projectIds: [own] }));
    await becomes(200);
    expect(lists.seen.at(-1)?.context.operator?.projectIds).toEqual([own]);
    const of = (id: string) =>
      send(test.gateway.port, {
        path: getProject.path.replace(':projectId', id),
        headers: { authorization: `Bearer ${token}` },
      });
    expect((await of(own.toUpperCase())).status).toBe(200);
    expect((await of(projectId)).status).toBe(403);
    expect((await of('nonsense')).status).toBe(403);
  });

  it('are counted as failures to identify if they do not exist, but not if they lack a scope', async () => {
    await ready();
    await tell(key({ scopes: ['audit:read'] }));
    await becomes(403);
    for (let count = 0; count < 12; count++) expect((await list()).status).toBe(403);
    const wrong = makeApiKey('operator');
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++) statuses.push((await list(wrong)).status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect(statuses.at(-1)).toBe(429);
    expect((await list('operator-secret')).status).toBe(200);
  });

  it('are reported to identity when they are used, once a minute', async () => {
    await ready();
    await tell(key());
    await becomes(200);
    await waitFor(() => used.length > 0, { what: 'the use' });
    await list();
    await test.gateway.stop();
    expect(used).toEqual([{ hash, at: expect.any(String) }]);
  });
});
