import { ApiError } from '@kith/base';
import {
  type ErrorCode,
  errorBody,
  errors,
  getUser,
  listConnections,
  signIn,
  updateUser,
} from '@kith/contracts';
import { errorReply, successReply } from '@kith/service';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Answer,
  expectError,
  parseAnswer,
  projectId,
  raw,
  send,
  serveEcho,
  serveIssuer,
  startTestGateway,
  type TestGateway,
} from './harness.ts';

const accept = 'application/problem+json, application/json';

/** Checks an error in the form of RFC 9457. `extra` contains the other members of this error. */
function expectProblem(
  answer: Answer,
  code: ErrorCode,
  { error, ...extra }: { error?: string; field?: string } = {},
): void {
  const { status, message } = errors[code];
  expect(answer.headers['content-type']).toBe('application/problem+json');
  // By RFC 9457 section 3.1, `type` is a URI reference with the full path. `title` is always the same for a code. `status` is
  // the status of the answer.
  expect(JSON.parse(answer.text)).toEqual({
    type: `/docs/errors#${code}`,
    title: message,
    status,
    detail: error ?? message,
    error: error ?? message,
    code,
    ...extra,
  });
  expect(answer.status).toBe(status);
  expect(answer.headers.vary).toContain('Accept');
}

describe.each(handlerEngines())('problems (RFC 9457) on %s', (engine) => {
  let test: TestGateway;
  let port: number;
  let token: string;
  beforeAll(async () => {
    test = await startTestGateway(engine, {
      env: { RATE_LIMITS: '{"identity.sign-in":{"max":1,"windowSeconds":300}}' },
    });
    const issuer = await serveIssuer(test.bus);
    token = await issuer.token();
    await serveEcho(test.bus, signIn);
    await serveEcho(test.bus, updateUser, () => {
      const taken = new ApiError('DUPLICATE_USERNAME', { message: 'Ada has it.', field: 'username' });
      return errorReply(taken.code, taken);
    });
    await serveEcho(test.bus, getUser, async () => undefined);
    port = test.gateway.port;
  });
  afterAll(() => test[Symbol.asyncDispose]());

  const scope = `/v7/${projectId}`;
  const call = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    send(port, { method, path, headers: { accept, ...headers }, ...(body === undefined ? {} : { body }) });

  it('are sent for errors of HTTP rules, router, token, body and rate limit', async () => {
    const head = (line: string) => `${line}\r\nAccept: ${accept}\r\nConnection: close\r\n\r\n`;
    expectProblem(parseAnswer(await raw(port, head('GET / HTTP/1.1'))), 'request/invalid-http');
    expectProblem(await call('GET', '/nothing'), 'route/not-found');
    expectProblem(await call('GET', '/v7/x/connections'), 'project/invalid-id');
    const wrong = await call('DELETE', `${scope}/connections`);
    expectProblem(wrong, 'route/method-not-allowed');
    expect(wrong.headers.allow).toBe('GET, HEAD, OPTIONS');
    const unknown = await call('GET', `${scope}/connections`);
    const error = 'No token was sent. Send one as Authorization: Bearer <token>.';
    expectProblem(unknown, 'auth/unauthorized', { error });
    expect(unknown.headers['www-authenticate']).toBe('Bearer');
    const text = { 'content-type': 'text/plain' };
    expectProblem(await call('POST', `${scope}/auth/sign-in`, text, 'x'), 'request/unsupported-media-type');
    const limited = await call('POST', `${scope}/auth/sign-in`, text, 'x');
    expectProblem(limited, 'rate-limit/exceeded');
    expect(limited.headers['retry-after']).toMatch(/^\d+$/);
  });

  it('are sent for services that answer with an error, are not running, or do not answer', async () => {
    const authorization = `Bearer ${token}`;
    const taken = await call('PATCH', `${scope}/users/u`, { authorization });
    expectProblem(taken, 'DUPLICATE_USERNAME', { error: 'Ada has it.', field: 'username' });
    const away = await call('GET', `${scope}/connections`, { authorization });
    expectProblem(away, 'gateway/unavailable');
    expect(away.headers['retry-after']).toBe('1');
    const hasty = await test.another({ env: { REQUEST_TIMEOUT_MS: '2000' } });
    const late = await send(hasty.port, { path: `${scope}/users/u`, headers: { accept } });
    expectProblem(late, 'gateway/timeout');
  });

  it('are sent only to clients that ask for problems by name', async () => {
    for (const given of ['*/*', 'application/json', 'application/json, application/problem+json;q=0.1']) {
      const answer = await call('GET', '/nothing', { accept: given });
      expectError(answer, 'route/not-found');
      expect(answer.headers.vary).toContain('Accept');
      const taken = await call('PATCH', `${scope}/users/u`, {
        accept: given,
        authorization: `Bearer ${token}`,
      });
      expect(JSON.parse(taken.text)).toEqual({
        error: 'Ada has it.',
        code: 'DUPLICATE_USERNAME',
        field: 'username',
      });
    }
  });

  it('have the length that HEAD reports', async () => {
    const [whole, head] = [await call('GET', '/nothing'), await call('HEAD', '/nothing')];
    expect([head.status, head.text]).toEqual([404, '']);
    expect(head.headers['content-type']).toBe('application/problem+json');
    expect(head.headers['content-length']).toBe(String(whole.text.length));
  });

  it('leave successes as they are', async () => {
    const served = await serveEcho(test.bus, listConnections, () => successReply(200, { a: 1 }, {}));
    const answer = await call('GET', `${scope}/connections`, { authorization: `Bearer ${token}` });
    await served.stop();
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
      200,
      '{"a":1}',
      'application/json',
    ]);
  });

  it('are not sent for requests whose head is malformed', async () => {
    const answer = parseAnswer(
      await raw(port, `GET /nothing HTTP/1.1\r\nAccept: ${accept}\r\nX : y\r\n\r\n`),
    );
    expect(JSON.parse(answer.text)).toEqual(errorBody('request/invalid-http'));
    expect(answer.headers['content-type']).toBe('application/json');
  });
});
