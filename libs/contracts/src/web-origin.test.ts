import { expect, it } from 'vitest';
import { isWebOrigin, listsOrigin } from './web-origin.ts';

it.each([
  'https://app.example.org',
  'http://localhost:5173',
  'http://127.0.0.1:8080',
  'http://[::1]:8080',
  'https://*.example.org',
  'https://*.app.example.org:8443',
  'http://*.localhost:3000',
])('%s is an origin', (origin) => {
  expect(isWebOrigin(origin)).toBe(true);
});

it.each([
  '*',
  'null',
  'app.example.org',
  'https://app.example.org/',
  'https://app.example.org/path',
  'https://user@app.example.org',
  'https://app.example.org:443',
  'ftp://example.org',
  'javascript:alert(1)',
  'https://*',
  'https://*.',
  'https://*.org',
  'https://*.*.example.org',
  'https://app.*.example.org',
  'https://a*.example.org',
  'https://*example.org',
  'https://*.127.0.0.1',
  `https://${'a'.repeat(60)}.${'b'.repeat(300)}.org`,
])('%s is not an origin that can be listed', (origin) => {
  expect(isWebOrigin(origin)).toBe(false);
});

it('the label * matches exactly one label, and the scheme and the port must be the same', () => {
  const listed = ['https://one.test', 'https://*.example.org', 'https://*.example.org:8443'];
  for (const origin of ['https://one.test', 'https://a.example.org', 'https://x-1.example.org:8443']) {
    expect(listsOrigin(listed, origin)).toBe(true);
  }
  for (const origin of [
    'https://example.org',
    'https://a.b.example.org',
    'http://a.example.org',
    'https://a.example.org:444',
    'https://a.example.org.evil.test',
    'https://evil.test/.example.org',
    'https://evil.test@a.example.org',
    'https://evilexample.org',
    'https://.example.org',
    'https://a.one.test',
    'null',
    '',
  ]) {
    expect(listsOrigin(listed, origin)).toBe(false);
  }
});
