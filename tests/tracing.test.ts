// Starts at most 1 platform and 8 processes.
import { randomBytes } from 'node:crypto';
import type { Collection } from '@kith/contracts';
import { availableEngines, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Collector, startCollector } from './support/collector.ts';
import { http } from './support/http.ts';
import type { CollectedSpan } from './support/otlp.ts';
import { startTracedPlatform, type TracedPlatform } from './support/traced-platform.ts';

const often = { OTEL_BSP_SCHEDULE_DELAY: '100' };

/** The span and the header of a traced client. */
function clientSpan(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` };
}

describe.each(availableEngines())('tracing (%s)', (engine) => {
  let collector: Collector;
  let platform: TracedPlatform;
  let projectId: string;
  let ada: TestUser;
  let grace: TestUser;
  let collection: Collection;

  beforeAll(async () => {
    collector = await startCollector();
    platform = await startTracedPlatform(engine, {
      ...often,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=one',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    });
    projectId = (await platform.createProject()).id;
    ada = await platform.createUser(projectId, { name: 'Ada' });
    grace = await platform.createUser(projectId, { name: 'Grace' });
    collection = await platform.createCollection(ada, 'Books');
  });
  afterAll(async () => {
    await platform?.stop();
    await collector?.[Symbol.asyncDispose]();
  });

  const rename = (headers: Record<string, string>, token = ada.accessToken) =>
    http(platform.url, {
      method: 'PATCH',
      path: `/v7/${projectId}/collections/${collection.id}`,
      headers,
      token,
      // Uses another name each time, because a rename to the same name publishes no event.
      body: { name: `Read ${randomBytes(4).toString('hex')}` },
    });
  const trace = (traceId: string) => collector.spans().filter((span) => span.traceId === traceId);
  const named = (spans: CollectedSpan[], name: string, kind: string) => {
    const found = spans.filter((span) => span.name === name && span.kind === kind);
    expect(found.map((span) => `${span.name} ${span.kind}`)).toEqual([`${name} ${kind}`]);
    return found[0] as CollectedSpan;
  };
  const until = (traceId: string, name: string, kind: string) =>
    waitFor(() => trace(traceId).some((span) => span.name === name && span.kind === kind), {
      what: `${kind} span ${name}`,
    });
  const serviceName = (service: string) => (engine === 'embedded' ? 'kith' : `kith-${service}`);

  it('makes one trace from the client through gateway, bus and service to the database', async () => {
    const client = clientSpan();
    const requestId = `traced-${client.spanId}`;
    const answer = await rename({ traceparent: client.traceparent, 'x-request-id': requestId });
    expect(answer.status).toBe(200);
    await until(client.traceId, 'PATCH /collections/:collectionId', 'server');
    await until(client.traceId, 'collections.rename', 'server');
    await until(client.traceId, 'publish collection.renamed', 'producer');

    const spans = trace(client.traceId);
    const server = named(spans, 'PATCH /collections/:collectionId', 'server');
    expect(server).toMatchObject({
      service: serviceName('gateway'),
      parentId: client.spanId,
      failed: false,
      attributes: {
        'http.request.method': 'PATCH',
        'http.route': '/collections/:collectionId',
        'http.response.status_code': '200',
        'kith.operation': 'collections.rename',
        'kith.request_id': requestId,
      },
    });
    const asked = named(spans, 'collections.rename', 'client');
    const system = engine === 'embedded' ? 'in_process' : 'nats';
    expect(asked).toMatchObject({
      service: serviceName('gateway'),
      parentId: server.spanId,
      attributes: { 'rpc.system': system, 'rpc.method': 'collections.rename' },
    });
    const answered = named(spans, 'collections.rename', 'server');
    expect(answered).toMatchObject({ service: serviceName('collections'), parentId: asked.spanId });

    const stored = spans.filter((span) => span.attributes['db.system.name'] !== undefined);
    const below = stored.filter(({ parentId }) => parentId === answered.spanId);
    expect(below).not.toEqual([]);
    for (const span of below) {
      expect(span.service).toBe(serviceName('collections'));
      expect(span.attributes['db.system.name']).toBe(engine === 'embedded' ? 'sqlite' : 'mongodb');
      expect(span.attributes['db.operation.name']).toBeTruthy();
    }
    if (engine === 'containers') {
      expect(below.map((span) => span.attributes['db.collection.name'])).toContain('collections');
    }
    expect(named(spans, 'publish collection.renamed', 'producer')).toMatchObject({
      service: serviceName('collections'),
      parentId: answered.spanId,
      attributes: { 'messaging.system': system, 'messaging.operation.type': 'send' },
    });
    expect(collector.headers().at(-1)).toMatchObject({
      'x-collector-key': 'one',
      'content-type': 'application/x-protobuf',
    });
  });

  it('continues the trace in the consumer of an event, and in the events that the consumer publishes', async () => {
    const client = clientSpan();
    const answer = await http(platform.url, {
      method: 'POST',
      path: `/v7/${projectId}/users/${grace.id}/connection`,
      headers: { traceparent: client.traceparent },
      token: ada.accessToken,
      body: { message: 'Hello' },
    });
    expect(answer.status).toBe(201);
    await until(client.traceId, 'publish connection.requested', 'producer');
    await until(client.traceId, 'process connection.requested', 'consumer');
    await until(client.traceId, 'publish notification.created', 'producer');
    const spans = trace(client.traceId);
    const published = named(spans, 'publish connection.requested', 'producer');
    const applied = named(spans, 'process connection.requested', 'consumer');
    expect(applied).toMatchObject({
      service: serviceName('notifications'),
      parentId: published.spanId,
      failed: false,
      attributes: {
        'messaging.consumer.group.name': 'notifications-feed',
        'messaging.operation.type': 'process',
        'messaging.message.id': published.attributes['messaging.message.id'],
        'kith.delivery': '1',
      },
    });
    expect(named(spans, 'publish notification.created', 'producer').parentId).toBe(applied.spanId);
    const questions = spans.filter(({ name, kind }) => name === 'identity.users-by-ids' && kind === 'server');
    for (const { parentId } of questions) expect(spans.map(({ spanId }) => spanId)).toContain(parentId);
  });

  it('makes no spans if the client has decided not to sample the trace', async () => {
    const dropped = clientSpan('00');
    const kept = clientSpan();
    expect((await rename({ traceparent: dropped.traceparent })).status).toBe(200);
    expect((await rename({ traceparent: kept.traceparent })).status).toBe(200);
    // Each process exports its spans in the order in which they end. So if the first request had made spans, they would arrive
    // before the spans of the second request.
    await until(kept.traceId, 'PATCH /collections/:collectionId', 'server');
    await until(kept.traceId, 'collections.rename', 'server');
    await until(kept.traceId, 'publish collection.renamed', 'producer');
    expect(trace(dropped.traceId)).toEqual([]);
  });

  it('begins its own trace if the client sends no trace or an invalid one', async () => {
    const unusable: Record<string, string>[] = [
      {},
      { traceparent: '00-zz-01' },
      { traceparent: `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01` },
    ];
    for (const headers of unusable) {
      const requestId = `new-${randomBytes(8).toString('hex')}`;
      await rename({ ...headers, 'x-request-id': requestId });
      const span = await waitFor(() =>
        collector.spans().find(({ attributes }) => attributes['kith.request_id'] === requestId),
      );
      expect(span.parentId).toBe('');
      await until(span.traceId, 'collections.rename', 'server');
    }
  });

  it('records a server error with its code, and does not record a refusal as an error', async () => {
    const refused = clientSpan();
    expect((await rename({ traceparent: refused.traceparent }, 'no-token-of-ours')).status).toBe(401);
    await until(refused.traceId, 'PATCH /collections/:collectionId', 'server');
    expect(trace(refused.traceId)).toMatchObject([
      { failed: false, attributes: { 'http.response.status_code': '401' } },
    ]);
    const lost = clientSpan();
    const path = '/sitemap.xml?token=query-secret';
    expect((await http(platform.url, { path, headers: { traceparent: lost.traceparent } })).status).toBe(404);
    await until(lost.traceId, 'GET', 'server');
  });

  it('puts the trace and the request into log lines of gateway and services', async () => {
    const client = clientSpan();
    const requestId = `logged-${client.spanId}`;
    await rename({ traceparent: client.traceparent, 'x-request-id': requestId });
    await until(client.traceId, 'collections.rename', 'server');
    await until(client.traceId, 'PATCH /collections/:collectionId', 'server');
    const lines = await waitFor(async () => {
      const found = (await platform.logs()).filter((line) => line.requestId === requestId);
      return found.some(({ msg }) => msg === 'request') && found.some(({ msg }) => msg === 'served') && found;
    });
    const spans = trace(client.traceId);
    const spanOf = { request: 'PATCH /collections/:collectionId', served: 'collections.rename' };
    for (const { msg, trace_id, span_id } of lines) {
      expect(trace_id).toBe(client.traceId);
      const expected = named(spans, spanOf[msg as keyof typeof spanOf], 'server').spanId;
      expect(span_id).toBe(expected);
    }
  });

  it('exports no secrets of callers', async () => {
    const client = clientSpan();
    const signIn = await http(platform.url, {
      method: 'POST',
      path: `/v7/${projectId}/auth/sign-in`,
      headers: {
        traceparent: client.traceparent,
        baggage: 'key=baggage-secret',
        tracestate: 'v=state-secret',
      },
      body: { email: ada.email, password: ada.password },
    });
    expect(signIn.status).toBe(200);
    const taken = await http(platform.url, {
      method: 'POST',
      path: `/v7/${projectId}/auth/sign-up`,
      headers: { traceparent: client.traceparent },
      body: { email: ada.email, password: ada.password },
    });
    // This sign-up fails in the database, whose own error message contains the e-mail address. The exported spans must not
    // contain this message.
    expect(taken.status).toBe(409);
    const byName = `/v7/${projectId}/users/by-username?username=query-secret`;
    await http(platform.url, { path: byName, headers: { traceparent: client.traceparent } });
    await until(client.traceId, 'POST /auth/sign-up', 'server');
    await until(client.traceId, 'identity.sign-up', 'server');
    await until(client.traceId, 'GET /users/by-username', 'server');
    const received = collector.received();
    expect(received).toContain('identity.sign-in');
    const session = signIn.json() as { accessToken: string; refreshToken: string };
    const secrets = {
      email: ada.email,
      password: ada.password,
      accessToken: ada.accessToken,
      refreshToken: ada.refreshToken,
      signedInAccess: session.accessToken,
      signedInRefresh: session.refreshToken,
      operator: platform.operatorToken,
      query: 'query-secret',
      baggage: 'baggage-secret',
      tracestate: 'state-secret',
      name: 'Grace',
    };
    for (const [what, secret] of Object.entries(secrets)) {
      expect(secret.length, what).toBeGreaterThan(3);
      expect(received.includes(secret), what).toBe(false);
    }
  });
});
