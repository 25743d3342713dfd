import { readFileSync } from 'node:fs';
import { errors } from '@kith/contracts';
import { documentFile } from '@kith/openapi';
import { handlerEngines } from '@kith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, projectId, send, startTestGateway, type TestGateway } from './harness.ts';

const pages = ['/docs', '/docs/errors'];
const files = [
  '/openapi.json',
  '/docs/page.css',
  '/docs/page.js',
  '/docs/swagger-ui.css',
  '/docs/swagger-ui.js',
  '/docs/icon.png',
];
const all = [...pages, ...files];

describe.each(handlerEngines())('the reference on %s', (engine) => {
  let test: TestGateway;
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    send(test.gateway.port, { method, path, headers });
  beforeAll(async () => {
    test = await startTestGateway(engine);
  });
  afterAll(() => test[Symbol.asyncDispose]());

  it('serves the committed document, also to pages of other origins', async () => {
    const { status, headers, text } = await get('/openapi.json', { origin: 'https://app.test' });
    expect(status).toBe(200);
    expect(text === readFileSync(documentFile, 'utf8')).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'access-control-allow-origin': 'https://app.test',
    });
  });

  it('serves every file that the pages name, and the pages name no file of another server', async () => {
    for (const page of pages) {
      const { text } = await get(page);
      const links = [...text.matchAll(/(?:src|href)="([^"#]+)/g)].map(([, link]) => link as string);
      expect(links.length).toBeGreaterThan(3);
      for (const link of links) expect(all).toContain(link);
    }
    for (const path of all) expect((await get(path)).status).toBe(200);
  });

  it('its pages may load only from this server, and all other answers may load nothing', async () => {
    for (const path of pages) {
      const { headers } = await get(path);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      const policy = headers['content-security-policy'];
      for (const part of [
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
      ])
        expect(policy).toContain(part);
      expect(policy).not.toMatch(/unsafe|\*|http/);
    }
    for (const path of [...files, '/docs/nothing', `/v7/${projectId}/connections`]) {
      const { headers } = await get(path);
      expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'");
    }
  });

  it.each(all)('lets clients cache %s, and answers 304 if the cached version is current', async (path) => {
    const first = await get(path);
    const { etag = '', 'cache-control': control } = first.headers;
    expect([etag.startsWith('"'), control]).toEqual([true, 'no-cache']);
    for (const tags of [etag, `"x", W/${etag}`, '*']) {
      const again = await get(path, { 'if-none-match': tags });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    }
    expect((await get(path, { 'if-none-match': '"x"' })).status).toBe(200);
  });

  it('compresses for clients that accept gzip, as a separate representation', async () => {
    const plain = await get('/openapi.json');
    const response = await fetch(`http://127.0.0.1:${test.gateway.port}/openapi.json`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(response.headers.get('etag')).not.toBe(plain.headers.etag);
    expect(Number(response.headers.get('content-length'))).toBeLessThan(plain.text.length / 5);
    // `fetch` has already decompressed the text.
    expect((await response.text()) === plain.text).toBe(true);
    for (const encodings of ['identity', 'br', 'gzip;q=0', 'gzip;q=0.1, identity']) {
      const answer = await get('/openapi.json', { 'accept-encoding': encodings });
      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(answer.headers.vary).toContain('Accept-Encoding');
    }
  });

  it('follows spec#addresses: HEAD, OPTIONS, other methods, a trailing slash, a query', async () => {
    for (const path of ['/docs', '/openapi.json']) {
      const whole = await get(path);
      const head = await get(path, {}, 'HEAD');
      expect([head.status, head.text, head.headers['content-length']]).toEqual([
        200,
        '',
        whole.headers['content-length'],
      ]);
      const options = await get(path, {}, 'OPTIONS');
      expect([options.status, options.headers.allow]).toEqual([204, 'GET, HEAD, OPTIONS']);
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const refused = await get(path, {}, method);
        expectError(refused, 'route/method-not-allowed');
        expect(refused.headers.allow).toBe('GET, HEAD, OPTIONS');
      }
      expect((await get(`${path}/?x=y`)).text === whole.text).toBe(true);
    }
  });

  it('is not served under other address forms or other paths', async () => {
    for (const path of [
      `/${projectId}/docs`,
      `/v7/${projectId}/openapi.json`,
      '/docs/nothing',
      '/docs//',
      '/docs/../docs/page',
      '/docs/page.html',
      '/docs/%2e%2e/package.json',
    ])
      expectError(await get(path), 'route/not-found');
    for (const path of ['/v7/docs', '/api/v6/openapi.json'])
      expectError(await get(path), 'project/invalid-id');
  });

  it('has no rate limit', async () => {
    for (const path of all) {
      const { headers } = await get(path);
      expect(Object.keys(headers).filter((name) => /ratelimit/i.test(name))).toEqual([]);
    }
  });

  it('describes every error code on the page that problems link to', async () => {
    const { text } = await get('/docs/errors');
    for (const [code, { status, message }] of Object.entries(errors)) {
      expect(text).toContain(`<section id="${code}">`);
      expect(text).toContain(`<b>${status} `);
      expect(text).toContain(message.replaceAll('<', '&lt;'));
    }
    // The page has the contracts' text about an error code. Words that are in backticks in the contracts are in `<code>`
    // elements on the page.
    expect(text).toContain(
      '<p>The body is larger than 256 KiB. For an upload: the form is larger than the endpoint allows.</p>',
    );
    expect(text).toContain('<b>What to do</b> Use one of the methods in <code>Allow</code>.');
  });

  it('in development, the address / announces it: as a page to a browser, and as JSON to a program', async () => {
    await using developing = await test.another({ nodeEnv: 'development' });
    const front = (headers: Record<string, string>, method = 'GET', path = '/') =>
      send(developing.port, { method, path, headers });
    const page = await front({ accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    });
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)/g)].map(([, link]) => link as string);
    for (const link of links) expect(all).toContain(link);
    const { status, headers, text } = await front({ accept: '*/*' });
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    const { name, ...paths } = JSON.parse(text);
    expect(name).toBe('Kith');
    for (const path of Object.values(paths)) expect(all).toContain(path);
    expect((await front({}, 'HEAD')).text).toBe('');
    expect((await front({}, 'GET', '/?from=a-link')).text).toBe(text);
    expectError(await front({}, 'POST'), 'route/not-found');
    expectError(await get('/'), 'route/not-found');
  });

  it('in production, shows only the page of errors, unless API_REFERENCE says otherwise (spec#edges-reference)', async () => {
    const start = (env: Record<string, string>) => test.another({ nodeEnv: 'production', env });
    await using production = await start({});
    await using none = await start({ API_REFERENCE: 'none' });
    await using whole = await start({ API_REFERENCE: 'all' });
    const shownBy = async ({ port }: { port: number }) => {
      const answers = await Promise.all(all.map((path) => send(port, { path })));
      return all.filter((_, at) => answers[at]?.status === 200);
    };
    const ofErrors = ['/docs/errors', '/docs/page.css', '/docs/icon.png'];
    expect(await shownBy(production)).toEqual(all.filter((path) => ofErrors.includes(path)));
    expect(await shownBy(none)).toEqual([]);
    expect(await shownBy(whole)).toEqual(all);
    expectError(await send(production.port, { path: '/docs' }), 'route/not-found');
    expectError(await send(production.port, { path: '/openapi.json' }), 'route/not-found');
    const { text } = await send(production.port, { path: '/docs/errors' });
    const links = [...text.matchAll(/(?:src|href)="([^"#]+)/g)].map(([, link]) => link as string);
    expect([...new Set(links)].sort()).toEqual([...ofErrors].sort());
  });

  it('is served even if no service is running', async () => {
    // No service serves on this bus at all.
    expectError(await get('/.well-known/jwks.json'), 'gateway/unavailable');
    expect((await get('/docs')).status).toBe(200);
  });
});
