import { randomBytes } from 'node:crypto';
import { availableEngines, sharedPlatform, type TestPlatform, type TestUser, waitFor } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { http } from './support/http.ts';

describe.each(availableEngines())('log lines without tracing (%s)', (engine) => {
  let platform: TestPlatform;
  let projectId: string;
  let ada: TestUser;
  beforeAll(async () => {
    platform = await sharedPlatform(engine);
    projectId = (await platform.createProject()).id;
    ada = await platform.createUser(projectId);
  });
  afterAll(() => platform?.stop());

  const linesOf = async (requestId: string, operations: string[]) =>
    waitFor(async () => {
      const texts = (await platform.logs()).split('\n').filter((line) => line.includes(requestId));
      const lines = texts.map((line): Record<string, unknown> => JSON.parse(line));
      const told = lines.map(({ msg, operation }) => `${msg} ${operation}`);
      return operations.every((one) => told.includes(one)) && lines;
    });

  it("the gateway and every service that a request reaches log the id of the client's trace and the id of the request", async () => {
    const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    const requestId = `logged-${spanId}`;
    const headers = { traceparent: `00-${traceId}-${spanId}-01`, 'x-request-id': requestId };
    // This form of the address names no project. So the gateway first asks identity for the user's project.
    const path = `/v7/users/${ada.id}/connections-count`;
    expect((await http(platform.url, { path, headers })).status).toBe(200);
    const lines = await linesOf(requestId, [
      'request connections.count-of-user',
      'served identity.project-of-user',
      'served connections.count-of-user',
    ]);
    for (const line of lines) expect(line).toMatchObject({ requestId, trace_id: traceId, span_id: spanId });
  });

  it('log lines have no trace id if the client sends no trace, or an invalid one', async () => {
    for (const traceparent of [undefined, 'no trace at all']) {
      const requestId = `plain-${randomBytes(8).toString('hex')}`;
      const headers = { ...(traceparent ? { traceparent } : {}), 'x-request-id': requestId };
      const path = `/v7/${projectId}/users/${ada.id}`;
      expect((await http(platform.url, { path, headers })).status).toBe(200);
      const lines = await linesOf(requestId, ['request identity.get-user', 'served identity.get-user']);
      for (const line of lines) expect(Object.keys(line)).not.toContain('trace_id');
    }
  });
});
