import { readConfig } from '@kith/base';
import { expect, test } from 'vitest';
import { cryptoConfig, testTokensAllowed } from './config.ts';

test.each([
  [{}, false],
  [{ NODE_ENV: 'production' }, false],
  [{ NODE_ENV: 'production', ALLOW_TEST_TOKENS: 'false' }, false],
  [{ NODE_ENV: 'production', ALLOW_TEST_TOKENS: 'true' }, true],
  [{ NODE_ENV: 'development' }, true],
  [{ NODE_ENV: 'test', ALLOW_TEST_TOKENS: 'false' }, true],
] as const)('with %j, test tokens are allowed: %s', (env, allowed) => {
  expect(testTokensAllowed(readConfig(cryptoConfig, { NATS_URL: 'nats://127.0.0.1', ...env }))).toBe(allowed);
});

test('if ALLOW_TEST_TOKENS is neither true nor false, the service does not start', () => {
  expect(() => readConfig(cryptoConfig, { NATS_URL: 'nats://127.0.0.1', ALLOW_TEST_TOKENS: 'yes' })).toThrow(
    'ALLOW_TEST_TOKENS: true or false is needed',
  );
});
