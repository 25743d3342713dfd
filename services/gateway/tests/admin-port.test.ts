import { getProject, listConnections, listProjects } from '@kith/contracts';
import { handlerEngines, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  expectError,
  projectId,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
  type TestIssuer,
} from './harness.ts';

// spec#operators-port.
describe.each(handlerEngines())('a separate port for operators on %s', (engine) => {
  let test: TestGateway;
  let issuer: TestIssuer;
  let adminPort: number;
  beforeAll(async () => {
    test = await startTestGateway(engine, { env: { OPERATOR_TOKEN: 'operator-secret', ADMIN_PORT: '0' } });
    issuer = await serveIssuer(test.bus);
    for (const spec of [listProjects, getProject, listConnections]) await serveEcho(test.bus, spec);
    await waitFor(async () => (await test.gateway.notReady()).length === 0, { what: 'readiness' });
    adminPort = Number(new URL(test.gateway.adminUrl ?? '').port);
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const operator = { authorization: 'Bearer operator-secret' };
  const admin = ['/admin/projects', `/admin/projects/${projectId}`, '/%61dmin/projects'];

  it('answers operators’ addresses, and no others', async () => {
    for (const path of admin) {
      expect((await send(adminPort, { path, headers: operator })).status).toBe(200);
      expectError(await send(adminPort, { path }), 'auth/unauthorized');
    }
    const authorization = `Bearer ${await issuer.token()}`;
    const others = [`/v7/${projectId}/connections`, '/v7/connections', '/docs', '/openapi.json', '/'];
    for (const path of [...others, '/.well-known/jwks.json']) {
      expectError(await send(adminPort, { path, headers: { authorization } }), 'route/not-found');
    }
  });

  it('is the only port that answers operators’ addresses', async () => {
    const { port } = test.gateway;
    for (const path of [...admin, '/admin', '/admin/nothing', '/admin/projects/']) {
      expectError(await send(port, { path, headers: operator }), 'route/not-found');
      const options = await send(port, { method: 'OPTIONS', path, headers: operator });
      expectError(options, 'route/not-found');
    }
    const headers = { authorization: `Bearer ${await issuer.token()}` };
    expect((await send(port, { path: `/v7/${projectId}/connections`, headers })).status).toBe(200);
  });
});
