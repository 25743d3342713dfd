import { once } from 'node:events';
import { connect } from 'node:net';
import { createLogger, StartError } from '@kith/base';
import { checkUsername } from '@kith/contracts';
import { successReply } from '@kith/service';
import { handlerEngines, waitFor } from '@kith/testing';
import { describe, expect, it } from 'vitest';
import { parseAnswer, projectId, raw, send, serveEcho, serveIssuer, startTestGateway } from './harness.ts';

const path = `/${projectId}/users/check-username`;

/** Serves an operation whose answers wait for `release`. */
async function serveSlowly(bus: Parameters<typeof serveEcho>[0]) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const service = await serveEcho(bus, checkUsername, async () => {
    await released;
    return successReply(200, { done: true }, {});
  });
  return { ...service, release };
}

describe.each(handlerEngines())('starting and stopping the gateway on %s', (engine) => {
  it('finishes a request that is under way when it stops, and accepts no new connections', async () => {
    await using test = await startTestGateway(engine);
    const service = await serveSlowly(test.bus);
    const answer = raw(test.gateway.port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await waitFor(() => service.seen.length === 1, { what: 'the request at the service' });
    const stopped = test.gateway.stop();
    await expect(send(test.gateway.port, { path })).rejects.toThrow(/ECONNREFUSED/);
    expect(await test.gateway.notReady()).toContain('stopping');
    service.release();
    const { status, headers, text } = parseAnswer(await answer);
    expect({ status, text }).toEqual({ status: 200, text: '{"done":true}' });
    expect(headers.connection).toBe('close');
    await stopped;
    await test.gateway.stop();
  });

  it('while it drains, is not ready, and asks open and new connections to close', async () => {
    await using test = await startTestGateway(engine, { env: { DRAIN_MS: '1' } });
    await serveIssuer(test.bus);
    await serveEcho(test.bus, checkUsername);
    const { port } = test.gateway;
    const request = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const idle = connect(port, '127.0.0.1');
    idle.write(request);
    await once(idle, 'data');
    await waitFor(async () => (await test.gateway.notReady()).length === 0, { what: 'readiness' });
    const drained = test.gateway.drain();
    expect(await test.gateway.notReady()).toEqual(['stopping']);
    await drained;
    const chunks: Buffer[] = [];
    idle.on('data', (chunk: Buffer) => chunks.push(chunk)).write(request);
    await once(idle, 'close');
    for (const answer of [Buffer.concat(chunks).toString(), await raw(port, request)]) {
      const { status, headers } = parseAnswer(answer);
      expect([status, headers.connection]).toEqual([200, 'close']);
    }
  });

  it('closes idle and unused connections immediately when it stops, even while a request is under way', async () => {
    await using test = await startTestGateway(engine, { timeouts: { drain: 3_600_000 } });
    const service = await serveSlowly(test.bus);
    const { port } = test.gateway;
    const unused = connect(port, '127.0.0.1');
    await once(unused, 'connect');
    const idle = connect(port, '127.0.0.1');
    idle.write('GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    const slow = raw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await waitFor(() => service.seen.length === 1, { what: 'the request at the service' });
    const stopped = test.gateway.stop();
    await Promise.all([once(unused.resume(), 'close'), once(idle.resume(), 'close')]);
    service.release();
    expect(parseAnswer(await slow).status).toBe(200);
    await stopped;
  });

  it('cuts off requests that still run at the end of the drain time', async () => {
    await using test = await startTestGateway(engine, { timeouts: { drain: 200 } });
    const service = await serveSlowly(test.bus);
    const slow = raw(test.gateway.port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await waitFor(() => service.seen.length === 1, { what: 'the request at the service' });
    const started = performance.now();
    await test.gateway.stop();
    // A timer may fire a millisecond early, so the bound is a little below the drain time.
    expect(performance.now() - started).toBeGreaterThan(198);
    expect(await slow).toBe('');
    service.release();
  });

  it('starts without any service, and reports what is missing', async () => {
    await using test = await startTestGateway(engine);
    expect(test.gateway.url).toBe(`http://127.0.0.1:${test.gateway.port}`);
    expect(await test.gateway.notReady()).toEqual(['keys', 'revocations', 'project-settings', 'api-keys']);
    await serveIssuer(test.bus);
    await waitFor(async () => (await test.gateway.notReady()).length === 0, { what: 'readiness' });
  });

  it('says in one sentence that its port is taken', async () => {
    await using test = await startTestGateway(engine);
    const taken = test.another({ env: { PORT: String(test.gateway.port) } });
    await expect(taken).rejects.toThrow(StartError);
    await expect(taken).rejects.toThrow(/is taken by another program; set PORT/);
  });

  it('logs one line for each request, without query, token or body', async () => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    await using test = await startTestGateway(engine, {
      log: createLogger({ name: 'test', level: 'trace', destination }),
    });
    const service = await serveEcho(test.bus, checkUsername);
    const headers = { authorization: 'Bearer a-secret-token', 'x-request-id': 'id-1' };
    await send(test.gateway.port, { path: `${path}?q=a-secret-query`, headers });
    await send(test.gateway.port, {
      method: 'POST',
      path: `/${projectId}/auth/sign-in`,
      headers: { 'content-type': 'application/json' },
      body: '{"password":"a-secret-password"}',
    });
    await raw(test.gateway.port, 'a-secret-garbage\r\n\r\n');
    const requests = await waitFor(() => {
      const found = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
      return found.length === 3 && found;
    });
    expect(requests[0]).toMatchObject({
      level: 'info',
      requestId: 'id-1',
      method: 'GET',
      path,
      operation: 'identity.check-username',
      status: 200,
      ms: expect.any(Number),
    });
    expect(requests[1]).toMatchObject({
      status: 503,
      code: 'gateway/unavailable',
      operation: 'identity.sign-in',
    });
    expect(requests[2]).toMatchObject({ status: 400, code: 'request/invalid-http' });
    expect(lines.join('')).not.toContain('a-secret');
    await service.stop();
  });
});
