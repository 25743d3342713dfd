import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flag, readConfig, StartError, wholeNumber } from '@kith/base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { secretConfig, serviceConfig, storingServiceConfig } from './common.ts';

const schema = z.object({
  PORT: wholeNumber(0, 65_535).default(8080),
  SECRET: z.string().min(4).optional(),
  LOUD: flag.default(false),
});
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kith-config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (content: string) => {
  const path = join(folder, 'secret');
  writeFileSync(path, content);
  return path;
};

test('a configuration is read from its variables; other variables are ignored, and empty ones count as absent', () => {
  expect(readConfig(schema, {})).toEqual({ PORT: 8080, LOUD: false });
  expect(readConfig(schema, { PORT: '', LOUD: '', SECRET: '', HOME: '/x' })).toEqual({
    PORT: 8080,
    LOUD: false,
  });
  expect(readConfig(schema, { PORT: '0', LOUD: 'true', SECRET: 'quiet' })).toEqual({
    PORT: 0,
    LOUD: true,
    SECRET: 'quiet',
  });
});

test('a secret is read from a file, unless the variable itself is set', () => {
  expect(readConfig(schema, { SECRET_FILE: file('quiet\n') }).SECRET).toBe('quiet');
  expect(readConfig(schema, { SECRET_FILE: file('quiet\n'), SECRET: 'louder' }).SECRET).toBe('louder');
  expect(readConfig(schema, { SECRET_FILE: file('quiet\n'), SECRET: '' }).SECRET).toBe('quiet');
  expect(readConfig(schema, { SECRET_FILE: file('') }).SECRET).toBeUndefined();
  expect(readConfig(schema, { SECRET_FILE: '' }).SECRET).toBeUndefined();
});

test('a variable without a file gets its default if it is absent or empty', () => {
  const read = (env: NodeJS.ProcessEnv) => readConfig(schema, env, { SECRET: 'usual', PORT: '1' });
  expect(read({})).toEqual({ SECRET: 'usual', PORT: 1, LOUD: false });
  expect(read({ SECRET: '', PORT: '' })).toEqual({ SECRET: 'usual', PORT: 1, LOUD: false });
  expect(read({ SECRET: 'quiet', PORT: '0' })).toEqual({ SECRET: 'quiet', PORT: 0, LOUD: false });
  expect(read({ SECRET_FILE: file('quiet') }).SECRET).toBe('quiet');
});

test.each([
  ['PORT', { PORT: 'http' }, 'PORT: a whole number is needed'],
  ['PORT', { PORT: '-1' }, 'PORT: a whole number is needed'],
  ['PORT', { PORT: '65536' }, 'PORT: a whole number from 0 to 65535 is needed'],
  ['LOUD', { LOUD: 'yes' }, 'LOUD: true or false is needed'],
  ['SECRET_FILE', { SECRET_FILE: '/nowhere/at/all' }, 'SECRET_FILE: /nowhere/at/all cannot be read.'],
])('the error for a wrong value of %s names the variable', (_, env, sentence) => {
  expect(() => readConfig(schema, env)).toThrow(new StartError(sentence));
});

test('an error never quotes the value of a variable', () => {
  try {
    readConfig(schema, { SECRET: 'abc' });
    expect.unreachable();
  } catch (error) {
    expect((error as Error).message).toMatch(/^SECRET: /);
    expect((error as Error).message).not.toContain('abc');
  }
});

test('the error for a missing engine address names the variable', () => {
  expect(() => readConfig(serviceConfig, {})).toThrow('NATS_URL: a NATS address is needed, nats://host:4222');
  expect(() => readConfig(storingServiceConfig, { NATS_URL: 'nats://x' })).toThrow(
    'MONGODB_URL: a MongoDB address is needed, mongodb://host:27017',
  );
  expect(() => readConfig(serviceConfig, { NATS_URL: 'nats://x', KITH_PREFIX: 'Up' })).toThrow(
    /^KITH_PREFIX: /,
  );
  expect(readConfig(serviceConfig, { NATS_URL: 'nats://x' })).toEqual({
    NODE_ENV: 'production',
    LOG_LEVEL: 'info',
    KITH_PREFIX: 'kith',
    HOST: '127.0.0.1',
    INTERNAL_HOST: '127.0.0.1',
    INTERNAL_PORT: 9090,
    OPERATIONS_AT_ONCE: 64,
    NATS_URL: 'nats://x',
    ALLOW_PLAIN_ENGINES: false,
    NATS_STREAM_REPLICAS: 1,
  });
});

const secret = 'x'.repeat(32);

test('the secret of the installation is read from a variable, a file or a program, and has to be long', () => {
  const read = (env: NodeJS.ProcessEnv) => readConfig(secretConfig, env);
  expect(
    read({ KITH_SECRET: secret, KITH_SECRET_PREVIOUS: `${'y'.repeat(32)}, ${'z'.repeat(40)}\n` }),
  ).toEqual({
    KITH_SECRET: secret,
    KITH_SECRET_PREVIOUS: ['y'.repeat(32), 'z'.repeat(40)],
  });
  expect(read({ KITH_SECRET_FILE: file(`${secret}\n`) }).KITH_SECRET).toBe(secret);
  // Words in quotes are one argument. The program runs without a shell, so `$HOME` is not expanded.
  const printing = `${process.execPath} -e "console.log('$HOME'.padEnd(32, '-'))"`;
  expect(read({ KITH_SECRET_COMMAND: printing }).KITH_SECRET).toBe('$HOME'.padEnd(32, '-'));
  expect(() => read({})).toThrow('KITH_SECRET: a secret of at least 32 characters is needed');
  expect(() => read({ KITH_SECRET: 'short' })).toThrow('KITH_SECRET: at least 32 characters are needed');
  expect(() => read({ KITH_SECRET: secret, KITH_SECRET_PREVIOUS: 'short' })).toThrow(/^KITH_SECRET_PREVIOUS/);
});

test('the error for a program that gives no secret contains the name of the program, but not its output', () => {
  const failing = `${process.execPath} -e "console.log('${secret}'); process.exit(3)"`;
  expect(() => readConfig(secretConfig, { KITH_SECRET_COMMAND: failing })).toThrow(
    new StartError(`KITH_SECRET_COMMAND: ${process.execPath} gave no secret (exit code 3).`),
  );
  expect(() => readConfig(secretConfig, { KITH_SECRET_COMMAND: '/nowhere/kms get' })).toThrow(
    new StartError('KITH_SECRET_COMMAND: /nowhere/kms gave no secret (ENOENT).'),
  );
  // Only the secrets of the installation can come from a command.
  expect(readConfig(schema, { SECRET_COMMAND: `${process.execPath} -v` }).SECRET).toBeUndefined();
});
