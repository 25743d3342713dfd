import { signIn } from '@kith/contracts';
import { successReply } from '@kith/service';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, projectId, send, serveEcho, startTestGateway, type TestGateway } from './harness.ts';

/** The headers of every answer, as OWASP's REST Security Cheat Sheet recommends. */
const ofAnswers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
const ofPages = [
  ...Object.keys(ofAnswers),
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'origin-agent-cluster',
  'permissions-policy',
  'referrer-policy',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
];
const plain = ['connection', 'content-length', 'content-type', 'date', 'vary', 'x-request-id'];

describe.each(handlerEngines())('headers for browsers on %s', (engine) => {
  let test: TestGateway;
  const get = (path: string, headers: Record<string, string> = {}) =>
    send(test.gateway.port, { path, headers });
  const signedIn = () => send(test.gateway.port, { method: 'POST', path: `/v7/${projectId}/auth/sign-in` });
  const namesOf = ({ headers }: Answer, others: readonly string[]) =>
    Object.keys(headers)
      .filter((name) => !others.includes(name) && !/ratelimit/.test(name))
      .sort();
  beforeAll(async () => {
    test = await startTestGateway(engine);
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it('an answer of the API has the recommended headers and no others (spec#edges-headers)', async () => {
    const service = await serveEcho(test.bus, signIn);
    for (const answer of [await signedIn(), await get('/nothing'), await get('/v7/x/y')]) {
      expect(answer.headers).toMatchObject(ofAnswers);
      expect(namesOf(answer, plain)).toEqual(Object.keys(ofAnswers).sort());
    }
    await service.stop();
  });

  it('no address accepts TRACE or echoes what was sent', async () => {
    for (const path of ['/', '/docs', `/v7/${projectId}/users/u`]) {
      const headers = { 'x-secret': 'echoed' };
      const answer = await send(test.gateway.port, { path, method: 'TRACE', headers });
      expect([404, 405]).toContain(answer.status);
      expect(answer.text).not.toContain('echoed');
    }
  });

  it('a page has all page headers, and a 304 for the page has them, too (spec#edges-page-headers)', async () => {
    for (const path of ['/docs', '/docs/errors']) {
      const page = await get(path);
      const others = [...plain, 'etag'];
      expect(namesOf(page, others)).toEqual([...ofPages].sort());
      expect(page.headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
      });
      const kept = await get(path, { 'if-none-match': page.headers.etag ?? '' });
      expect(kept.status).toBe(304);
      for (const name of ofPages) expect(kept.headers[name]).toBe(page.headers[name]);
    }
  });

  it('a page of a service has all page headers, with the service’s own policy', async () => {
    const policy = { 'Content-Security-Policy': "default-src 'self'" };
    const answered = () => successReply(200, '<!doctype html>', policy, 'text/html; charset=utf-8');
    const service = await serveEcho(test.bus, signIn, answered);
    const page = await signedIn();
    expect(namesOf(page, plain)).toEqual([...ofPages].sort());
    expect(page.headers['content-security-policy']).toBe("default-src 'self'");
    await service.stop();
  });
});

describe.each(handlerEngines())('/.well-known/security.txt on %s', (engine) => {
  const path = '/.well-known/security.txt';

  it('names the contacts for security weaknesses if they are set (spec#edges-security-txt)', async () => {
    await using test = await startTestGateway(engine);
    expect((await send(test.gateway.port, { path })).status).toBe(404);
    const contacts = 'mailto:security@example.org, https://example.org/report';
    await using named = await test.another({
      env: { SECURITY_CONTACT: contacts, SECURITY_POLICY: 'https://example.org/policy' },
    });
    const { status, headers, text } = await send(named.port, { path });
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    const [first, second, policy, expires = '', ...rest] = text.trimEnd().split('\n');
    expect([first, second, policy, rest]).toEqual([
      'Contact: mailto:security@example.org',
      'Contact: https://example.org/report',
      'Policy: https://example.org/policy',
      [],
    ]);
    const days = (Date.parse(expires.replace('Expires: ', '')) - Date.now()) / (24 * 3600_000);
    expect(days).toBeGreaterThan(178);
    expect(days).toBeLessThan(365);
    expect((await send(named.port, { path, method: 'HEAD' })).text).toBe('');
    expect((await send(named.port, { path, method: 'POST' })).status).toBe(405);
    expect((await send(named.port, { path, method: 'OPTIONS' })).headers.allow).toBe('GET, HEAD, OPTIONS');
  });
});
