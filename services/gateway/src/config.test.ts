import { readFileSync } from 'node:fs';
import { readConfig } from '@kith/base';
import { describe, expect, it } from 'vitest';
import { gatewayConfig, sharedGatewayConfig } from './config.ts';

const read = (env: Record<string, string>) => readConfig(gatewayConfig, env);

describe('gatewayConfig', () => {
  it('has a default for every variable except the address of Redis', () => {
    expect(read({})).toMatchObject({
      PORT: 8080,
      TRUST_PROXY_HOPS: 0,
      RATE_LIMIT_SCALE: 1,
      RATE_LIMITS: {},
      CORS_ORIGINS: ['*'],
      TOKEN_ISSUER: 'kith',
      TOKEN_AUDIENCE: 'kith.dev',
      ALLOW_TEST_TOKENS: false,
      REQUEST_TIMEOUT_MS: 5000,
    });
    expect(() => readConfig(sharedGatewayConfig, {})).toThrow('REDIS_URL: a Redis address is needed');
  });

  it('reads the variables that are set', () => {
    const limits = { 'identity.sign-in': { max: 5, windowSeconds: 60 }, 'connections.list': null };
    expect(
      read({
        PORT: '0',
        RATE_LIMIT_SCALE: '0.5',
        RATE_LIMITS: JSON.stringify(limits),
        CORS_ORIGINS: 'https://a.test, https://b.test',
        REDIS_URL: 'rediss://user:secret@host:6380/1',
      }),
    ).toMatchObject({
      PORT: 0,
      RATE_LIMIT_SCALE: 0.5,
      RATE_LIMITS: limits,
      CORS_ORIGINS: ['https://a.test', 'https://b.test'],
    });
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', 'http'],
    ['RATE_LIMIT_SCALE', '-1'],
    ['RATE_LIMIT_SCALE', '1e3'],
    ['RATE_LIMITS', '{'],
    ['RATE_LIMITS', '[]'],
    ['RATE_LIMITS', '{"identity.update-project": null}'],
    ['RATE_LIMITS', '{"identity.sign-in": {"max": 0, "windowSeconds": 60}}'],
    ['RATE_LIMITS', '{"identity.sign-out-of-it-all": {"max": 1, "windowSeconds": 60}}'],
    ['TRUST_PROXY_HOPS', 'true'],
    ['ALLOW_TEST_TOKENS', 'yes'],
    ['REQUEST_TIMEOUT_MS', '0'],
    ['REDIS_URL', 'http://host'],
    ['UPSTREAMS', 'storage'],
    ['UPSTREAMS', 'storage=https://host:1'],
    ['KITH_SECRET', 'short'],
    ['CORS_ORIGINS', 'https://a.test/'],
    ['CORS_ORIGINS', 'https://a.test,'],
    ['CORS_ORIGINS', 'a.test'],
    ['CORS_ORIGINS', 'https://*.test'],
    ['API_REFERENCE', 'some'],
    ['SECURITY_CONTACT', 'security@example.org'],
    ['SECURITY_POLICY', 'http://example.org/report'],
  ])('refuses %s=%s, and names the variable', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^${name}: `));
  });

  it('names the entry that is not an origin', () => {
    expect(() => read({ CORS_ORIGINS: 'https://a.test, https://b.test/app' })).toThrow(
      'CORS_ORIGINS: "https://b.test/app" is not a web origin, such as https://app.example.org or https://*.example.org',
    );
    expect(() => read({ CORS_ORIGINS: 'https://a.test,*' })).toThrow(
      'CORS_ORIGINS: "*" allows every origin, so it must be the only entry',
    );
  });

  it('shows no secret in an error message', () => {
    expect(() => read({ REDIS_URL: 'redis//:hunter2@host' })).toThrow(/^(?!.*hunter2)/);
  });

  it('is described in the README', () => {
    // The formatter of the README pads the cells of the table with spaces, so runs of spaces are reduced to one space.
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8').replaceAll(/ +/g, ' ');
    for (const [name, schema] of Object.entries(sharedGatewayConfig.shape)) {
      expect(readme).toContain(`| \`${name}\` | ${schema.description} |`);
    }
  });
});
